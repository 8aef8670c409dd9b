// Where each row of a list begins, for rows of one height or of heights that are measured as they are shown.

export interface RowOffsets {
  /** The height of all rows. */
  readonly total: number;
  /** Where a row begins; at its count, the total. */
  top(index: number): number;
  /** The row at a height; the nearest one outside of the list. */
  indexAt(y: number): number;
}

export function equalOffsets(count: number, rowHeight: number): RowOffsets {
  return {
    total: count * rowHeight,
    top: (index) => index * rowHeight,
    indexAt: (y) => clamp(Math.floor(y / rowHeight), count),
  };
}

/** `heightOf` gives undefined for a row that was not measured yet. */
export function measuredOffsets(
  count: number,
  estimate: number,
  heightOf: (index: number) => number | undefined,
): RowOffsets {
  const tops = new Float64Array(count + 1);
  for (let index = 0; index < count; index += 1)
    tops[index + 1] = (tops[index] ?? 0) + (heightOf(index) ?? estimate);
  const top = (index: number) => tops[index] ?? 0;
  return {
    total: top(count),
    top,
    indexAt(y) {
      let low = 0;
      let high = count;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (top(middle + 1) <= y) low = middle + 1;
        else high = middle;
      }
      return clamp(low, count);
    },
  };
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}
