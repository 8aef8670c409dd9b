// A list of arriving items, where a test can wait for the one that it needs.

export class Arrivals<T> {
  readonly list: T[] = [];
  readonly #waiting = new Map<number, PromiseWithResolvers<T>>();

  add(item: T): void {
    const index = this.list.push(item) - 1;
    this.#waiting.get(index)?.resolve(item);
    this.#waiting.delete(index);
  }

  /** The item at `index`, as soon as it is there. */
  at(index: number): Promise<T> {
    const item = this.list[index];
    if (item !== undefined) return Promise.resolve(item);
    const waiting = this.#waiting.get(index) ?? Promise.withResolvers<T>();
    this.#waiting.set(index, waiting);
    return waiting.promise;
  }
}
