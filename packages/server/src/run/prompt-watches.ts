// Remembers the last prompts of conversations, so that the next request of each can be compared with them.

import { PromptWatch } from "rondo/loop";

/** So many conversations are remembered, and prompts of at most so many characters. */
const [maxConversations, maxCharacters] = [64, 500_000];

export class PromptWatches {
  /** By the last response, or by the conversation; the least recently used first. */
  readonly #watches = new Map<string, PromptWatch>();

  /** The watch of what continues `previous`, to be found under `next`. */
  continue(previous: string | undefined, next: string): PromptWatch {
    // A queued run is planned twice.
    const known = this.#watches.get(next) ?? this.#watches.get(previous ?? "");
    this.#watches.delete(next);
    if (previous !== undefined) this.#watches.delete(previous);
    const watch = known && known.characters <= maxCharacters ? known : new PromptWatch();
    this.#watches.set(next, watch);
    const [oldest] = this.#watches.keys();
    if (this.#watches.size > maxConversations && oldest !== undefined) this.#watches.delete(oldest);
    return watch;
  }
}
