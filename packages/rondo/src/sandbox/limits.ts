// The limits of a container: their defaults, and their checks.

import { checkDuration, checkLimit, checkOptions } from "../error/check.ts";
import type { SandboxLimits } from "./sandbox.ts";

const mebibyte = 1024 * 1024;

/** The limits of a container that names no others. */
export const defaultLimits: SandboxLimits = Object.freeze({
  memoryBytes: 512 * mebibyte,
  cpuMs: 60_000,
  timeoutMs: 60_000,
  processes: 64,
  diskBytes: 512 * mebibyte,
  files: 10_000,
  outputBytes: mebibyte,
});

const names = Object.keys(defaultLimits) as (keyof SandboxLimits)[];

/** Fills in the missing limits. Throws for a name or a value that is not valid. */
export function completeLimits(
  limits: Partial<SandboxLimits> = {},
  defaults: SandboxLimits = defaultLimits,
  field = "limits",
): SandboxLimits {
  checkOptions(field, limits, names);
  const complete = { ...defaults };
  for (const name of names) {
    const value = limits[name];
    if (value === undefined) continue;
    complete[name] = (name.endsWith("Ms") ? checkDuration : checkLimit)(`${field}.${name}`, value);
  }
  return complete;
}
