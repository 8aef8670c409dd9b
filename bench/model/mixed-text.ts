// Text in pieces of 1 to 200 characters: prose, code, lists and other scripts. The same each time, so that contenders
// can be checked.

const words =
  'the model reads a file, and then says: "it has 3 lines". \n\n- first\n- second\n\n`a < b && list[0] === 1` Größe 漢字を含む文 naïve {x: 1}  '.split(
    /(?<= )/,
  );

/** The pieces of a text. */
export function mixedPieces(count: number, seed = 1): string[] {
  const random = generator(seed);
  return Array.from({ length: count }, () => {
    const length = 1 + Math.floor(random() * 200);
    let text = "";
    while (text.length < length) text += words[Math.floor(random() * words.length)];
    return text.slice(0, length);
  });
}

/** Numbers from 0 to 1 that only look random (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
