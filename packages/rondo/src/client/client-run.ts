// One run of a client's loop: its events, from the request to its end.

import type { Run } from "../async/run.ts";
import type { LoopEvent } from "../loop/events.ts";
import type { Usage } from "../model/provider.ts";
import { BlockReader } from "./blocks.ts";

export class ClientRun {
  readonly reader: BlockReader;
  /** What the first try cost, if this is the second. */
  readonly firstTry: { readonly usage: Usage | undefined } | undefined;
  /** Whether a loop over `receiveMessages()` reads it. */
  isReceived = false;
  /** Set by `query("")`: the run that continues this one, or nothing if the request failed. */
  continuation: Promise<ClientRun | undefined> | undefined;
  readonly #events: Run<LoopEvent>;
  /** Events that are read, but not received yet. */
  readonly #buffer: LoopEvent[] = [];
  readonly #left = new AbortController();

  constructor(events: Run<LoopEvent>, answerToolName?: string, firstTry?: ClientRun["firstTry"]) {
    this.#events = events;
    this.reader = new BlockReader(answerToolName);
    this.firstTry = firstTry;
  }

  /** Aborted when the run is left or interrupted: its hooks are not waited for any more. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Waits until the server accepts the request; false if the client's signal was aborted before. */
  async isAccepted(): Promise<boolean> {
    while (true) {
      const step = await this.#events.next();
      if (step.done) return true; // left: nobody asks any more
      this.#buffer.push(step.value);
      if (step.value.type !== "warning") return step.value.type !== "run.finished";
    }
  }

  /** The next event, if it was read already. */
  buffered(): LoopEvent | undefined {
    return this.#buffer.shift();
  }

  /** Reads the next event. */
  next(): Promise<IteratorResult<LoopEvent, void>> {
    return this.#events.next();
  }

  /** Reads all that is left, for `buffered()`. */
  async drain(): Promise<void> {
    for await (const event of this.#events) this.#buffer.push(event);
  }

  /** Closes the connection, aborts the tools and waits for their cleanup. */
  async leave(): Promise<void> {
    this.#left.abort();
    await this.#events.return();
  }
}
