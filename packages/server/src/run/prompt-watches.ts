// Remembers the last prompts of conversations, so that the next request of each can be compared with them.

import { PromptWatch } from "rondo/loop";

/** So many conversations are remembered. Runs forget long prompts when they end. */
const maxConversations = 64;

interface WatchedPrompt {
  /** The last response, or the conversation. */
  readonly key: string;
  readonly watch: PromptWatch;
}

export class PromptWatches {
  // A ring. Not a map: V8 keeps the tables that a map has outgrown, with their entries, until the next full garbage
  // collection.
  readonly #watched: (WatchedPrompt | undefined)[] = [];
  /** The place of the next one. */
  #next = 0;

  /** The watch of what continues `previous`, to be found under `next`; a queued run `isPlannedTwice`. */
  continue(previous: string | undefined, next: string, isPlannedTwice: boolean): PromptWatch {
    const known = (isPlannedTwice && this.#take(next)) || (previous !== undefined && this.#take(previous));
    const watch = known || new PromptWatch();
    this.#watched[this.#next] = { key: next, watch };
    this.#next = (this.#next + 1) % maxConversations;
    return watch;
  }

  #take(key: string): PromptWatch | undefined {
    const index = this.#watched.findIndex((it) => it?.key === key);
    const taken = this.#watched[index];
    if (taken) this.#watched[index] = undefined;
    return taken?.watch;
  }
}
