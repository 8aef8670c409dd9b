// Ends a process whose event loop a run blocks, and names the run. A thread of its own watches the heartbeat of this one:
// a blocked event loop cannot watch itself. Runs that end the process with an uncaught error or `process.exit()` are
// named too.

import { url as inspectorUrl } from "node:inspector";
import { Worker } from "node:worker_threads";
import { writeCrashNote } from "../../store/crash-note.ts";
import { currentRun, runsAtWork } from "../current-run.ts";
import { beatPlace, debuggedPlace, lastLine, namesPlace, type WatchdogData, witnessName } from "./shared.ts";

export interface WatchdogOptions {
  /** How long the event loop may be blocked; 0 for no limit. */
  readonly blockedMs: number;
  /** Where to note which run ended the process. Default: nowhere. */
  readonly notePath?: string | undefined;
}

/** How many runs are named when it is unknown which of them blocks. */
const maxNames = 20;
const namesBytes = 2000;

/** Watches this process. Returns the function that stops it. */
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
  // The thread calls this through the debugger when this one is blocked.
  const witness = Symbol.for(witnessName);
  Object.assign(globalThis, { [witness]: currentRun });
  const shared = new Int32Array(new SharedArrayBuffer(12));
  const names = new Uint8Array(new SharedArrayBuffer(namesBytes));
  const encoder = new TextEncoder();
  const tickMs = Math.max(20, Math.min(1000, Math.floor(blockedMs / 10)));
  const beat = () => {
    const text = runsAtWork().slice(0, maxNames).join(" ");
    Atomics.store(shared, namesPlace, encoder.encodeInto(text, names).written);
    Atomics.add(shared, beatPlace, 1);
    // A process that stops at a breakpoint must not be ended.
    Atomics.store(shared, debuggedPlace, inspectorUrl() === undefined ? 0 : 1);
  };
  const heart = setInterval(beat, tickMs).unref();
  const workerData: WatchdogData = { shared, names, tickMs, blockedMs, notePath };
  // Preloaded modules of the process (`--import`) are not meant for this thread.
  const thread = new Worker(new URL(import.meta.resolve("#watchdog-thread")), { workerData, execArgv: [] });
  thread.on("error", (error) => lastLine(`rondo: the watchdog has failed, and watches no more: ${error}`));
  thread.unref();
  return async () => {
    clearInterval(heart);
    Reflect.deleteProperty(globalThis, witness);
    await thread.terminate();
  };
}
