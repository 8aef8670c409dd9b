// Warnings as a list that a test can look at.

import { onTestFinished } from "vitest";
import { setLogger } from "../error/logger.ts";

/** Collects the warnings of the running test instead of printing them. */
export function collectWarnings(): string[] {
  const warnings: string[] = [];
  setLogger({ warn: (message) => void warnings.push(message) });
  onTestFinished(() => setLogger());
  return warnings;
}
