// Warnings that were given, so that a client which sends the same with every request is reported once.

/** How long a warning counts as given. */
const keptMs = 3_600_000;

/** How many are remembered, of all owners: clients choose the texts. */
const maxKept = 1000;

export class RecentWarnings {
  /** When each was given, oldest first. */
  readonly #givenAt = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Those that this owner's requests have not led to within the last hour. */
  notYetGiven(owner: string, warnings: readonly string[]): string[] {
    const now = this.#now();
    return warnings.filter((warning) => {
      // Places in the request differ from one to the next.
      const key = JSON.stringify([owner, warning.slice(0, 300).replace(/\[\d+\]/g, "[]")]);
      const givenAt = this.#givenAt.get(key);
      if (givenAt !== undefined && now < givenAt + keptMs) return false;
      this.#givenAt.delete(key);
      this.#givenAt.set(key, now);
      const [oldest] = this.#givenAt.keys();
      if (this.#givenAt.size > maxKept && oldest !== undefined) this.#givenAt.delete(oldest);
      return true;
    });
  }
}
