// A first-in, first-out queue whose cost does not grow with its length, as `Array.shift` does.

export class Deque<T> implements Iterable<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined as T; // so that the item can be collected
    this.#head += 1;
    // Dropping the used half only when it is the larger one keeps the average cost constant.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = this.#head; index < this.#items.length; index += 1) yield this.#items[index] as T;
  }
}
