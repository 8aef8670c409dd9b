// Sends the log of a background run to a client: what is there, and then what comes. What this process adds to the
// log is heard from the hub, once it is written; all else is read from the store.

import type { EventSink } from "../engine/event-sink.ts";
import { isTerminal } from "../protocol/status.ts";
import type { Store, StoredEvent } from "../store/store.ts";
import type { Hub } from "./hub.ts";

export interface FollowOptions {
  readonly store: Store;
  readonly hub: Hub;
  readonly owner: string;
  readonly id: string;
  /** The number of the last event that the client has; -1 for none. */
  readonly after: number;
  readonly sink: EventSink;
  readonly signal: AbortSignal;
}

const pageSize = 500;
/** Another process may write the log; nobody rings then. */
const longestWaitMs = 1000;

/** Ends after the terminal event, when the response is deleted, or with the signal. */
export async function followLog({
  store,
  hub,
  owner,
  id,
  after,
  sink,
  signal,
}: FollowOptions): Promise<void> {
  using listening = hub.listen(id, longestWaitMs, signal);
  let last = after;
  let isOver = false;
  let heard: readonly StoredEvent[] | undefined;
  while (!signal.aborted) {
    const events = heard ?? (await store.events(owner, id, last, pageSize));
    for (const { sequence, data } of events) {
      const type = typeOf(data);
      sink.send(type, data);
      last = sequence;
      if (isLast(type)) return;
    }
    await sink.drained;
    if (!heard && events.length === pageSize) continue;
    if (!heard && events.length === 0) {
      // The client has it all, or the response was deleted.
      const response = isOver ? undefined : await store.get(owner, id);
      if (!response) return;
      isOver = isTerminal(response.status);
      if (isOver) continue; // its last events may have come in between
    }
    await listening.news;
    heard = listening.take(last);
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
