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

/** Rows of heights of their own, which become known as they are shown. */
export class MeasuredRows {
  readonly #heights: Float64Array;

  /** `heightOf` gives undefined for a row that was not measured yet. */
  constructor(count: number, estimate: number, heightOf: (index: number) => number | undefined) {
    this.#heights = Float64Array.from({ length: count }, (_, index) => heightOf(index) ?? estimate);
  }

  /** Returns whether this is another height than before. */
  set(index: number, height: number): boolean {
    if (Math.abs((this.#heights[index] ?? height) - height) < 0.5) return false;
    this.#heights[index] = height;
    return true;
  }

  /** Where the rows begin as of now. */
  offsets(): RowOffsets {
    const count = this.#heights.length;
    const tops = new Float64Array(count + 1);
    for (let index = 0; index < count; index += 1)
      tops[index + 1] = (tops[index] as number) + (this.#heights[index] as number);
    const top = (index: number) => tops[index] ?? 0;
    return { total: top(count), top, indexAt: (y) => clamp(rowAt(top, count, y), count) };
  }
}

function rowAt(top: (index: number) => number, count: number, y: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (top(middle + 1) <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(index, count - 1));
}
