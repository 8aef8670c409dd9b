// Ends a process that a run keeps from working, and says which run it was. A thread of its own watches the heartbeat
// of this one: a blocked event loop cannot watch itself.
//
// What ends the process by other means is named too, as far as JavaScript sees it: an error that nobody has caught, and
// `process.exit()` in a tool.

import { url as inspectorUrl } from "node:inspector";
import { Worker } from "node:worker_threads";
import { writeCrashNote } from "../../store/crash-note.ts";
import { currentRun, runsAtWork } from "../current-run.ts";
import { lastLine } from "./last-line.ts";
import { beatPlace, debuggedPlace, namesPlace, type WatchdogData, witnessName } from "./shared.ts";

export interface WatchdogOptions {
  /** How long the event loop may be blocked; 0 for as long as it likes. */
  readonly blockedMs: number;
  /** Where to write down which run has ended the process. Default: nowhere. */
  readonly notePath?: string | undefined;
}

/** Of so many runs the names are told when nobody knows which of them blocks. */
const mostNames = 20;
const namesBytes = 2000;

/** Watches this process. Gives the function that ends that. */
export function startWatchdog({ blockedMs, notePath }: WatchdogOptions): () => Promise<void> {
  const onUncaught = (error: unknown) => tell(`has thrown an error that nobody caught: ${String(error)}`);
  let isTold = false;
  const tell = (what: string) => {
    const responseId = currentRun();
    if (responseId === undefined || isTold) return;
    isTold = true;
    if (notePath !== undefined) writeCrashNote(notePath, responseId);
    lastLine(`rondo: the run of the response ${responseId} ${what}. The process ends.`);
  };
  const onExit = (code: number) => tell(`has ended the process, with the exit code ${code}`);
  process.on("uncaughtExceptionMonitor", onUncaught);
  process.on("exit", onExit);
  const stopThread = blockedMs > 0 ? startThread(blockedMs, notePath) : undefined;
  return async () => {
    process.off("uncaughtExceptionMonitor", onUncaught);
    process.off("exit", onExit);
    await stopThread?.();
  };
}

function startThread(blockedMs: number, notePath: string | undefined): () => Promise<void> {
  // What the thread asks this one, with the help of the debugger, when it is blocked.
  const witness = Symbol.for(witnessName);
  Object.assign(globalThis, { [witness]: currentRun });
  const shared = new Int32Array(new SharedArrayBuffer(12));
  const names = new Uint8Array(new SharedArrayBuffer(namesBytes));
  const encoder = new TextEncoder();
  const tickMs = Math.max(20, Math.min(1000, Math.floor(blockedMs / 10)));
  const beat = () => {
    const text = runsAtWork().slice(0, mostNames).join(" ");
    Atomics.store(shared, namesPlace, encoder.encodeInto(text, names).written);
    Atomics.add(shared, beatPlace, 1);
    // Someone who stops at a breakpoint does not want the process to end.
    Atomics.store(shared, debuggedPlace, inspectorUrl() === undefined ? 0 : 1);
  };
  const heart = setInterval(beat, tickMs).unref();
  const workerData: WatchdogData = { shared, names, tickMs, blockedMs, notePath };
  // What the process loads before its own code (`--import`) is not meant for this thread.
  const thread = new Worker(new URL(import.meta.resolve("#watchdog-thread")), { workerData, execArgv: [] });
  thread.on("error", (error) => lastLine(`rondo: the watchdog has failed, and watches no more: ${error}`));
  thread.unref();
  return async () => {
    clearInterval(heart);
    Reflect.deleteProperty(globalThis, witness);
    await thread.terminate();
  };
}
