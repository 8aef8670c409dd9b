// V8's settings for a process that serves: many small requests at once, which all leave garbage, and for months. The
// other commands are over before it matters. Measured in docs/decisions/0068 and 0072.

import { accessSync, constants } from "node:fs";
import { url as inspectorUrl } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { isMainThread } from "node:worker_threads";

const runtimeFlags = [
  // V8 allocates what it expects to live long in the old generation. A server's first requests mislead it: the young
  // generation is still so small that most of a request outlives it. From then on, requests would be kept until the
  // next full garbage collection.
  "--no-allocation-site-pretenuring",
  // The compiler in the middle compiles what the last one soon compiles again, and leaves 60 MB behind. What a server
  // runs it runs again and again: that is worth the last one after 1,000 calls in place of 3,000.
  "--no-maglev",
  "--invocation-count-for-turbofan=1000",
  // The old generation is collected when it has grown by so much, and not when it has become four times as large:
  // what it grows by is nearly all garbage.
  "--heap-growing-percent=40",
];

/** The young generation may grow to three times as many megabytes; by default it takes some 200. Measured in docs/decisions/0082. */
export const startFlags: readonly string[] = ["--max-semi-space-size=24"];

/** Sets them. Replaces this process by one with the flags that V8 reads only at its start, where that is possible. */
export function tuneForServing(): void {
  for (const flag of runtimeFlags) setFlagsFromString(flag);
  if (!canBeReplaced()) return;
  const { execPath, execArgv, argv } = process;
  try {
    process.execve?.(execPath, [execPath, ...startFlags, ...execArgv, ...argv.slice(1)]);
  } catch {
    // It serves as well without them.
  }
}

function canBeReplaced(): boolean {
  const given = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ");
  if (/semi[-_]space/.test(given)) return false;
  // A parent's channel and a debugger would be lost.
  if (process.channel !== undefined || inspectorUrl() !== undefined || !isMainThread) return false;
  // Node's function is there on every platform, and throws on some.
  if (process.platform === "win32" || !mayStartProcesses()) return false;
  try {
    // Where this fails, Node would abort: for example after an update has removed the program.
    accessSync(process.execPath, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function mayStartProcesses(): boolean {
  // Only there with `--permission`.
  const { permission } = process as Partial<Pick<NodeJS.Process, "permission">>;
  return permission?.has("child") ?? true;
}
