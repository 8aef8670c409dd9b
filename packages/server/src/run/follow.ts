// Sends the log of a run to a client: what is stored, then what is added. News of this process bring the events with
// them; all others are read from the store.

import type { EventSink } from "../engine/event-sink.ts";
import { isTerminal } from "../protocol/status.ts";
import type { Store, StoredEvent } from "../store/store.ts";
import { NewsReader, type NewsSource } from "./news-reader.ts";
import { readThroughOutage } from "./outage.ts";

export interface FollowOptions extends NewsSource {
  readonly store: Store;
  readonly owner: string;
  readonly id: string;
  /** The number of the last event that the client has; -1 for none. */
  readonly after: number;
  readonly sink: EventSink;
  readonly signal: AbortSignal;
  /** How long the store may be unavailable meanwhile. Default: 30,000. */
  readonly outageMs?: number;
}

const pageSize = 500;

/** Ends after the terminal event, when the response is deleted, or with the signal. */
export async function followLog(options: FollowOptions): Promise<void> {
  const { store, owner, id, after, sink, signal } = options;
  const outage = { signal, limitMs: options.outageMs };
  using reader = new NewsReader(options, id, signal);
  let last = after;
  let isOver = false;
  let received: readonly StoredEvent[] | undefined;
  while (!signal.aborted) {
    const events =
      received ?? (await readThroughOutage(() => store.events(owner, id, last, pageSize), outage));
    for (const { sequence, data } of events) {
      const type = typeOf(data);
      sink.send(type, data);
      last = sequence;
      if (isLast(type)) return;
    }
    await sink.drained;
    if (!received && events.length === pageSize) continue;
    if (!received && events.length === 0) {
      // The client has it all, or the response was deleted.
      const response = isOver ? undefined : await readThroughOutage(() => store.get(owner, id), outage);
      if (!response) return;
      isOver = isTerminal(response.status);
      if (isOver) continue; // its last events may have come in between
    }
    await reader.arrived;
    received = reader.take(last);
  }
}

/** An event's JSON begins with its type. */
function typeOf(json: string): string {
  const start = '{"type":"'.length;
  return json.slice(start, json.indexOf('"', start));
}

function isLast(type: string): boolean {
  return type === "response.completed" || type === "response.incomplete" || type === "response.failed";
}
