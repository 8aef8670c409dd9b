// A first-in, first-out queue in constant time: `Array.shift` takes longer the longer the array is.

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
    this.#items[this.#head] = undefined as T; // lets the item be collected
    this.#head += 1;
    // Dropping the consumed part only once it is the larger half keeps the average cost constant.
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
