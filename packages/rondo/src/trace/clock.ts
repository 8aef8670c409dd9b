// The clock of traces: never goes back within a run, with fractions of a millisecond.

/** A machine that slept, or whose clock was set, is this far off at least. Smaller drifts do not matter. */
const maxDriftMs = 20;

/** Unknown until a run is traced: merely reading it loads modules of Node. */
let offsetMs: number | undefined;

/** A clock for one run: the time since 1970. All of a process agree, unless its own clock was set in between. */
export function traceClock(): () => number {
  offsetMs ??= performance.timeOrigin;
  const driftMs = Date.now() - (performance.now() + offsetMs);
  if (Math.abs(driftMs) > maxDriftMs) offsetMs += driftMs;
  const offset = offsetMs;
  return () => offset + performance.now();
}
