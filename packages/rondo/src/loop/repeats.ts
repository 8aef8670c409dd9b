// Notices a model that makes the same call over and over.

/** Counts how often in a row a call was made with the same arguments. */
export class Repeats {
  readonly #counts = new Map<string, number>();

  /** Notes the calls of one answer. Gives for each how often it came in a row, this time included. */
  note(calls: readonly { name: string; arguments: string }[]): number[] {
    const keys = calls.map((call) => `${call.name}\n${call.arguments}`);
    for (const key of this.#counts.keys()) if (!keys.includes(key)) this.#counts.delete(key);
    return keys.map((key) => {
      const count = (this.#counts.get(key) ?? 0) + 1;
      this.#counts.set(key, count);
      return count;
    });
  }
}
