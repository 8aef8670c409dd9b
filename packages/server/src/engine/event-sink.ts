// Where the events of a run go while it runs: a stream to a client, or nowhere.

export interface EventSink {
  /** Takes one event: its type, and the whole event as JSON. Never throws: a client that has gone is a signal's business. */
  send(type: string, json: string): void;
  /** Set while the reader cannot keep up: resolves when it can again, or has gone. */
  readonly drained: Promise<void> | undefined;
}
