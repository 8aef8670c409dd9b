// What a model reads about a limit that ended its code.

import type { LimitName, Outcome, SandboxLimits } from "./sandbox.ts";

/** `value` where it is another than that of the container. */
export function limitOutcome(limit: LimitName, limits: SandboxLimits, value?: number): Outcome {
  return { type: limit, message: limitMessage(limit, limits, value) };
}

export function limitMessage(limit: LimitName, limits: SandboxLimits, value?: number): string {
  switch (limit) {
    case "timeout":
      return `It took longer than the time limit of ${seconds(value ?? limits.timeoutMs)}.`;
    case "cpu":
      return `It used more than the CPU limit of ${seconds(value ?? limits.cpuMs)}.`;
    case "memory":
      return `It needed more than the memory limit of ${size(value ?? limits.memoryBytes)}.`;
    case "processes":
      return `It started more than the limit of ${limits.processes} processes and threads.`;
    case "disk":
      return `It wrote more than the limits of ${size(limits.diskBytes)} and ${limits.files.toLocaleString("en-US")} files for the container.`;
    default:
      return `It printed more than the output limit of ${size(value ?? limits.outputBytes)}.`;
  }
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

function size(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  if (mebibytes >= 1) return `${Math.round(mebibytes * 10) / 10} MiB`;
  return bytes >= 1024 ? `${Math.round(bytes / 102.4) / 10} KiB` : `${bytes} bytes`;
}
