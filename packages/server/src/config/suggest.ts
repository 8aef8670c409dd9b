// The word that was probably meant.

/** The known word nearest to a misspelt one; undefined if none is near. Case and `_` or `-` do not count. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word);
  const [best] = known
    .map((candidate) => ({ candidate, distance: distance(wanted, plain(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(1, wanted.length / 3) ? best.candidate : undefined;
}

function plain(word: string): string {
  // Nothing longer is a misspelt key, and the time grows with the length.
  return word.slice(0, 64).replace(/[_-]/g, "").toLowerCase();
}

/** How many letters to add, drop or change to get from one word to the other. */
function distance(a: string, b: string): number {
  if (sorted(a) === sorted(b)) return Number(a !== b); // letters in the wrong order are one slip
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split("").entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

function sorted(word: string): string {
  return word.split("").toSorted().join("");
}
