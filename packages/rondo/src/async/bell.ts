// Lets one sleeper wait until something has happened elsewhere.

import { untilAborted } from "./until-aborted.ts";
import { withResolvers } from "./with-resolvers.ts";

export class Bell {
  #wake = () => {};

  /** Wakes the sleeper, if there is one. */
  ring(): void {
    this.#wake();
  }

  /**
   * Sleeps until the bell rings; rejects with the reason of a signal that is aborted. The sleeper must check what
   * has changed: the bell may have rung for something else.
   */
  sleep(signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = withResolvers<void>();
    this.#wake = resolve;
    return signal ? untilAborted(promise, signal) : promise;
  }
}
