// Remembers the last prompts of conversations, so that the next request of each can be compared with them.

import { PromptWatch } from "rondo/loop";

/** So many conversations are remembered, and prompts of at most so many characters. */
const [maxConversations, maxCharacters] = [64, 500_000];

interface WatchedPrompt {
  /** The last response, or the conversation. */
  readonly key: string;
  readonly watch: PromptWatch;
}

export class PromptWatches {
  // The newest last. Not a map: V8 keeps the tables that a map has outgrown, with their entries, until the next full
  // garbage collection.
  readonly #watched: WatchedPrompt[] = [];

  /** The watch of what continues `previous`, to be found under `next`; a queued run `isPlannedTwice`. */
  continue(previous: string | undefined, next: string, isPlannedTwice: boolean): PromptWatch {
    const known = (isPlannedTwice && this.#take(next)) || (previous !== undefined && this.#take(previous));
    const watch = known && known.characters <= maxCharacters ? known : new PromptWatch();
    this.#watched.push({ key: next, watch });
    if (this.#watched.length > maxConversations) this.#watched.shift();
    return watch;
  }

  #take(key: string): PromptWatch | undefined {
    const index = this.#watched.findLastIndex((it) => it.key === key);
    return index < 0 ? undefined : this.#watched.splice(index, 1)[0]?.watch;
  }
}
