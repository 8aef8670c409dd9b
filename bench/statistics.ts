// What is made of many figures.

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which a part of all values lies. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place % 1);
}

/**
 * The median of the ratios of the figures of the same rounds: what disturbs the machine for a while disturbs both.
 * A contender with fewer rounds is held against the rounds that it took part in.
 */
export function medianRatio(values: readonly number[], floor: readonly number[]): number {
  return median(values.map((value, round) => value / (floor[round] ?? Number.NaN)));
}
