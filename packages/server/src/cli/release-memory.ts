// Returns memory to the system after a peak. V8 keeps all pages that its heap ever needed for the next time. It returns
// them only in collections that are to save memory, and never starts one in a process like this: after a single busy
// minute, 100 MB would be kept that hold nothing. Measured in docs/decisions/0075.

import { constants, type PerformanceEntry, PerformanceObserver, performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Growth that is worth a collection. The young generation alone grows by 34 MB, and is used all the time. */
const worthBytes = 48e6;
/** Of so many checks of a busy process one saves memory: what has grown may be in use, and then each costs 0.1 s of CPU. */
const checksOfSaving = 4;
/** The share of busy time below which nobody waits for the collection. */
const quietShare = 0.1;

export interface ReleaseOptions {
  /** When a new process is ready: what it has then, it needs. Default: 1,000. */
  startMs?: number;
  /** Time between two checks. Default: 5,000. */
  checkMs?: number;
}

/** Watches this process for as long as it lives. */
export function releaseMemoryAfterPeaks({ startMs = 1000, checkMs = 5000 }: ReleaseOptions = {}): void {
  let least = Number.POSITIVE_INFINITY;
  let checks = 0;
  let busy = performance.eventLoopUtilization();
  const check = () => {
    const before = busy;
    busy = performance.eventLoopUtilization();
    const resident = process.memoryUsage.rss();
    least = Math.min(least, resident);
    if (resident - least < worthBytes) return;
    if (performance.eventLoopUtilization(busy, before).utilization < quietShare) {
      collectAll();
      // What is left is in use: only growth beyond it is worth another one.
      least = process.memoryUsage.rss();
    } else if (checks++ % checksOfSaving === 0) saveWithNextCollection();
  };
  const start = () => {
    check();
    setInterval(check, checkMs).unref();
  };
  setTimeout(start, startMs).unref();
}

/** Stops the process for some 0.2 s. It also drops compiled code: the next 3,000 requests take twice the CPU. */
function collectAll(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as NodeJS.GCFunction | undefined;
  setFlagsFromString("--no-expose-gc");
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

let isSaving = false;

/** The next collection that is due anyway saves memory. In this mode all the time, requests take up to twice the CPU. */
function saveWithNextCollection(): void {
  if (isSaving) return;
  isSaving = true;
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isMajorCollection)) return;
    observer.disconnect();
    setFlagsFromString("--no-memory-saver-mode");
    isSaving = false;
  });
  observer.observe({ entryTypes: ["gc"] });
  setFlagsFromString("--memory-saver-mode");
}

/** The types of Node know `detail` only of entries of other kinds. */
function isMajorCollection(
  entry: PerformanceEntry & { readonly detail?: { readonly kind: number } },
): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
