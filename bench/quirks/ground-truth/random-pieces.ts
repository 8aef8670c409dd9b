// Text in random pieces, the same for the same seed.

/** Numbers from 0 up to 1. */
export type RandomNumbers = () => number;

/** A linear congruential generator: good enough to choose where to cut, and repeatable. */
export function randomNumbers(seed: number): RandomNumbers {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Pieces of 1 to 24 characters, most of them short, as tokens are. */
export function randomPieces(text: string, random: RandomNumbers): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const length = 1 + Math.floor(random() ** 2 * 24);
    pieces.push(text.slice(start, start + length));
    start += length;
  }
  return pieces;
}
