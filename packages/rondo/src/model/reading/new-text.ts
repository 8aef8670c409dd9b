// Finds the new part of cumulative text, for servers whose profile says that they repeat the text so far.

/** How much of the beginning and the end is compared: different texts hardly agree in length, head and tail. */
const comparedLength = 64;

/**
 * The new part of each of a series of texts. A text that does not continue what came before is new as a whole: the
 * server started over, or sends some pieces by themselves. One that only repeats the beginning has nothing new.
 */
export class NewText {
  /** The last text that was taken for all so far. */
  #last = "";
  #length = 0;
  #head = "";
  #tail = "";

  next(text: string): string {
    const start = this.#newFrom(text);
    if (start === undefined) return "";
    const news = text.slice(start);
    this.#add(news);
    this.#last = text;
    return news;
  }

  /** Where the new part begins; undefined if there is none. */
  #newFrom(text: string): number | undefined {
    const last = this.#last;
    if (this.#length > 0 && text.length >= this.#length && this.#continuesAll(text)) return this.#length;
    if (last !== "" && text.length >= last.length && continues(text, last)) return last.length;
    return last.startsWith(text) ? undefined : 0;
  }

  #continuesAll(text: string): boolean {
    return text.startsWith(this.#head) && text.startsWith(this.#tail, this.#length - this.#tail.length);
  }

  #add(news: string): void {
    this.#length += news.length;
    if (this.#head.length < comparedLength) this.#head = (this.#head + news).slice(0, comparedLength);
    this.#tail = (this.#tail + news.slice(-comparedLength)).slice(-comparedLength);
  }
}

function continues(text: string, earlier: string): boolean {
  const from = Math.max(0, earlier.length - comparedLength);
  return text.startsWith(earlier.slice(0, comparedLength)) && text.startsWith(earlier.slice(from), from);
}
