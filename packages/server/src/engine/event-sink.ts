// Where the events of a run go: to a client's stream.

export interface EventSink {
  /** Sends one event: its type, and the whole event as JSON. Never throws: disconnects are reported by a signal. */
  send(type: string, json: string): void;
  /** Set while the reader is too slow: resolves when it has caught up or disconnected. */
  readonly drained: Promise<void> | undefined;
}

/** Passes events on by a function of its own, as fast as another sink's reader. */
export class ForwardingSink implements EventSink {
  readonly send: EventSink["send"];
  readonly #reader: Pick<EventSink, "drained">;

  constructor(send: EventSink["send"], reader: Pick<EventSink, "drained">) {
    this.send = send;
    this.#reader = reader;
  }

  get drained(): Promise<void> | undefined {
    return this.#reader.drained;
  }
}
