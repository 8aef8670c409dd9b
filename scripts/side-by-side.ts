// Two columns of text.

const separatorWidth = 3;
/** Output in a narrower column is hard to read. */
const leastRightWidth = 40;

/** The rows of two columns: the left one as wide as its lines, the right one wrapped. Undefined if there is no room. */
export function sideBySide(
  left: readonly string[],
  right: readonly string[],
  columns: number,
): [left: string, right: string][] | undefined {
  const width = Math.max(...left.map(({ length }) => length));
  const rightWidth = columns - width - separatorWidth;
  if (rightWidth < leastRightWidth) return undefined;
  const wrapped = right.flatMap((line) => line.match(new RegExp(`.{1,${rightWidth}}`, "gu")) ?? [""]);
  return Array.from({ length: Math.max(left.length, wrapped.length) }, (_, row) => [
    (left[row] ?? "").padEnd(width),
    wrapped[row] ?? "",
  ]);
}
