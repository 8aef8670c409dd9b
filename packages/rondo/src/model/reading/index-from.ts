// Searches text for one of several characters.

/**
 * Where a pattern of one character, with the flag `g`, matches from a place on; -1 if it does not. V8 compiles a
 * pattern at once, but a loop over characters only after it was run for long.
 */
export function indexFrom(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex - 1 : -1;
}
