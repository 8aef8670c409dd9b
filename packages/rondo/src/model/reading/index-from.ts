// Searches text for one of several characters.

/**
 * Where a pattern of one character, with the flag `g`, matches from a place on; -1 if it does not. V8 compiles a pattern
 * at once and a loop over characters only when it has become hot, which costs more than most answers.
 */
export function indexFrom(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex - 1 : -1;
}
