// The thread of the watchdog: counts missed heartbeats, finds out what blocks, and ends the process.

import { Session } from "node:inspector/promises";
import { workerData } from "node:worker_threads";
import { writeCrashNote } from "../../store/crash-note.ts";
import { beatPlace, debuggedPlace, lastLine, namesPlace, type WatchdogData, witnessName } from "./shared.ts";

/** How long the blocked thread has to answer. One that is blocked outside of JavaScript never does. */
const answerMs = 3000;

const { shared, names, tickMs, blockedMs, notePath } = workerData as WatchdogData;

let lastBeat = 0;
let missed = 0;
let isAsking = false;
// Counts ticks of this thread, and reads no clock: while the machine sleeps, neither thread ticks.
setInterval(() => {
  if (isAsking) return;
  const beat = Atomics.load(shared, beatPlace);
  missed = beat === lastBeat ? missed + 1 : 0;
  lastBeat = beat;
  if (missed * tickMs < blockedMs || Atomics.load(shared, debuggedPlace) === 1) return;
  isAsking = true;
  void endIfBlocked().finally(() => {
    isAsking = false;
    missed = 0;
  });
}, tickMs);

async function endIfBlocked(): Promise<void> {
  const session = new Session();
  const found = await Promise.race([
    ask(session).catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, answerMs, undefined)),
  ]);
  if (Atomics.load(shared, beatPlace) !== lastBeat) {
    session.disconnect(); // It was only slow. That lets it go on.
    return;
  }
  if (found?.run !== undefined && notePath !== undefined) writeCrashNote(notePath, found.run);
  lastLine(`rondo: the event loop has been blocked for ${blockedMs} ms ${blame(found)}.`);
  process.kill(process.pid, "SIGKILL");
}

interface Blockage {
  /** The response whose run is blocked. */
  readonly run: string | undefined;
  /** The function and its location. */
  readonly where: string;
}

/** What blocked the loop, as far as known. */
function blame(found: Blockage | undefined): string {
  const where = found ? ` in ${found.where}` : "";
  const ended = "(watchdog.blockedMs): the process is ended";
  if (found?.run !== undefined) return `by the run of the response ${found.run}${where} ${ended}`;
  // Between two microtasks of a run, its code seems to belong to no run.
  const running = new TextDecoder().decode(names.slice(0, Atomics.load(shared, namesPlace)));
  if (running !== "") return `while these responses ran: ${running}${where && `,${where}`} ${ended}`;
  return found ? `outside of all runs${where} ${ended}` : `by something unknown ${ended}`;
}

/** Pauses the blocked thread, and asks it for its run. */
async function ask(session: Session): Promise<Blockage> {
  session.connectToMainThread();
  const paused = new Promise<Paused>((resolve) => {
    session.once("Debugger.paused", ({ params }) => resolve(params));
  });
  const scripts = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => scripts.set(scriptId, url));
  await session.post("Debugger.enable");
  await session.post("Debugger.pause");
  const [frame] = (await paused).callFrames;
  if (!frame) throw new Error("It is blocked outside of JavaScript.");
  const { result } = await session.post("Debugger.evaluateOnCallFrame", {
    callFrameId: frame.callFrameId,
    expression: `globalThis[Symbol.for(${JSON.stringify(witnessName)})]?.()`,
    returnByValue: true,
  });
  const { functionName, location } = frame;
  const file = scripts.get(location.scriptId) ?? "unknown";
  return {
    run: typeof result.value === "string" ? result.value : undefined,
    where: `${functionName || "a function"} (${file}:${location.lineNumber + 1})`,
  };
}

interface Paused {
  readonly callFrames: readonly {
    readonly callFrameId: string;
    readonly functionName: string;
    readonly location: { readonly scriptId: string; readonly lineNumber: number };
  }[];
}
