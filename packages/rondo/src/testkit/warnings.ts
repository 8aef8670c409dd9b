// Collects warnings for a test.

import { onTestFinished } from "vitest";
import { setLogger } from "../error/logger.ts";

/** Collects the warnings of the running test instead of printing them. */
export function collectWarnings(): string[] {
  const warnings: string[] = [];
  setLogger({ warn: (message) => void warnings.push(message) });
  onTestFinished(() => setLogger());
  return warnings;
}
