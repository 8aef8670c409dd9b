// Turns text that comes as "all so far" into what is new, for servers whose profile says that they do so.

/** How much of the beginning and of the end is compared: two different texts hardly agree in length, head and tail. */
const comparedLength = 64;

/**
 * What is new in each of a row of texts. A text that does not go on from what came before is new as a whole: the
 * server has begun afresh, or sends some pieces by themselves. One that only repeats the beginning has nothing new.
 */
export class NewText {
  /** The last text that was taken for all so far. */
  #last = "";
  #length = 0;
  #head = "";
  #tail = "";

  next(text: string): string {
    if (text === "") return "";
    if (this.#length > 0 && text.length >= this.#length && this.#continuesAll(text)) {
      const news = text.slice(this.#length);
      this.#add(news);
      this.#last = text;
      return news;
    }
    if (this.#last !== "" && text.length >= this.#last.length && continues(text, this.#last)) {
      const news = text.slice(this.#last.length);
      this.#add(news);
      this.#last = text;
      return news;
    }
    if (this.#last.startsWith(text)) return "";
    this.#add(text);
    this.#last = text;
    return text;
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
