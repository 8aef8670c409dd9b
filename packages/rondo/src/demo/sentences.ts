// Finds sentences of a text by the words in them.

const maxFound = 3;
const maxSentenceLength = 300;
// A search is asked for several times at most, and shall not hold a server up.
const maxSearched = 100_000;

/** The sentences with these words together; if there are none, those that have each of them somewhere. */
export function findSentences(words: string, texts: readonly string[]): string[] {
  const wanted = words.toLowerCase();
  const parts = wanted.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (parts.length === 0) return [];
  const text = texts.join("\n").slice(-maxSearched);
  const sentences = text.match(/[^.!?\n]+[.!?]*/g) ?? [];
  const having = (isMatch: (sentence: string) => boolean) =>
    sentences
      .filter((sentence) => isMatch(sentence.toLowerCase()))
      .slice(0, maxFound)
      .map((sentence) => sentence.trim().slice(0, maxSentenceLength).toWellFormed());
  const together = having((sentence) => sentence.includes(wanted));
  return together.length > 0
    ? together
    : having((sentence) => parts.every((part) => sentence.includes(part)));
}
