// The server's time. Times of runs come from its clock, and that of the browser may be off by hours.

/** The browser's time minus the server's lies between these. */
let leastMs = Number.NEGATIVE_INFINITY;
let mostMs = Number.POSITIVE_INFINITY;

/** The header has whole seconds. */
const resolutionMs = 1_000;
/** Differences below it are as likely errors of the estimate, and nobody notices them. */
const ignoredMs = 2_000;

/** Takes in the `Date` of a reply, and when its request was sent and its headers came. */
export function noteDate(date: string | null, sentAtMs: number, cameAtMs: number): void {
  const serverMs = Date.parse(date ?? "");
  if (Number.isNaN(serverMs) || cameAtMs < sentAtMs) return;
  const least = sentAtMs - serverMs - resolutionMs;
  const most = cameAtMs - serverMs;
  // Each reply narrows the estimate down. If they do not fit together, a clock was set: then only the last one counts.
  const fits = least <= mostMs && most >= leastMs;
  leastMs = fits ? Math.max(leastMs, least) : least;
  mostMs = fits ? Math.min(mostMs, most) : most;
}

/** The time now by the server's clock; by the browser's until the server has replied. */
export function serverNow(): number {
  return Date.now() - offsetMs();
}

function offsetMs(): number {
  if (!Number.isFinite(leastMs)) return 0;
  const offset = Math.round((leastMs + mostMs) / 2);
  return Math.abs(offset) < ignoredMs ? 0 : offset;
}
