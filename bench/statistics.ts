// Medians, percentiles and ratios.

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which a given share of all values lies. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place % 1);
}

/**
 * The median of the ratios within each repetition: a temporary disturbance of the machine affects both.
 * A contender with fewer repetitions is compared only within those.
 */
export function medianRatio(values: readonly number[], floor: readonly number[]): number {
  return median(values.map((value, round) => value / (floor[round] ?? Number.NaN)));
}
