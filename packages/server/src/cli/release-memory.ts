// Returns memory to the system after a peak. V8 keeps all pages that its heap ever needed for the next time. It returns
// them only in collections that are to save memory, and never starts one in a process like this: after a single busy
// minute, 100 MB would be kept that hold nothing. Measured in docs/decisions/0075.

import { constants, type PerformanceEntry, PerformanceObserver, performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startFlags } from "./v8-flags.ts";

/**
 * Growth that is worth a collection. With our flags, the young generation grows by 58 MB, which a busy process uses all the
 * time; some 90 MB in all is usual for one.
 */
const minGrowthBytes = { quiet: 72e6, busy: 128e6 };
/** The share of busy time below which a process is quiet, on average over the last checks: a short burst does not count. */
const quietShare = 0.1;
const checksOfAverage = 5;
/** Up to here, a collection of all takes less than half a second. */
const smallHeapBytes = 100e6;
/** So many quiet checks in a row come before a collection of all: more for a large heap, which takes longer. */
const quietChecks = { small: 10, large: 60 };
/** From one collection of all to the next: what it drops, compiled code for one, is needed again after it. */
const checksBetweenAll = 600;
/** The same for those that save memory in a busy process. Doubled each time as long as none helps: then all is in use. */
const checksBetweenSaving = { first: 20, most: 2560 };

export interface ReleaseOptions {
  /** When a new process is ready: what it has then, it needs. Default: 1,000. */
  startMs?: number;
  /** Time between two checks, which take some 10 µs. Default: 1,000. */
  checkMs?: number;
}

/** Watches this process for as long as it lives. Does nothing if it was started without our flags. */
export function releaseMemoryAfterPeaks({ startMs = 1000, checkMs = 1000 }: ReleaseOptions = {}): void {
  if (!startFlags.every((flag) => process.execArgv.includes(flag))) return;
  let least = Number.POSITIVE_INFINITY;
  let busyShare = 0;
  let quiet = 0;
  let sinceAll = checksBetweenAll;
  let sinceSaving = checksBetweenSaving.first;
  let betweenSaving = checksBetweenSaving.first;
  let busy = performance.eventLoopUtilization();
  const check = () => {
    const before = busy;
    busy = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(busy, before);
    busyShare += (utilization - busyShare) / checksOfAverage;
    quiet = busyShare < quietShare ? quiet + 1 : 0;
    sinceAll += 1;
    sinceSaving += 1;
    const resident = process.memoryUsage.rss();
    least = Math.min(least, resident);
    const growth = resident - least;
    if (growth < minGrowthBytes.busy) betweenSaving = checksBetweenSaving.first;
    if (quiet > 0) {
      if (growth < minGrowthBytes.quiet) return;
      const isSmall = getHeapStatistics().used_heap_size < smallHeapBytes;
      if (sinceAll < checksBetweenAll || quiet < quietChecks[isSmall ? "small" : "large"]) return;
      collectAll();
      // What is left is in use: only growth beyond it is worth another one.
      least = process.memoryUsage.rss();
      sinceAll = 0;
    } else if (growth >= minGrowthBytes.busy && sinceSaving >= betweenSaving) {
      saveWithNextCollection();
      sinceSaving = 0;
      betweenSaving = Math.min(betweenSaving * 2, checksBetweenSaving.most);
    }
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
  let left = 2; // one may have begun before, and then it saves nothing
  const observer = new PerformanceObserver((list) => {
    left -= list.getEntries().filter(isMajorCollection).length;
    if (left > 0) return;
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
