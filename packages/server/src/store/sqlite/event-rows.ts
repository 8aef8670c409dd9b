// Events in rows: those of one commit share rows, because to insert a row takes longer than to write what is in it.

import type { StoredEvent } from "../store.ts";

/** Events that follow each other, as lines. */
export interface EventRow {
  /** Of the last event. */
  readonly sequence: number;
  readonly count: number;
  readonly data: string;
}

/** So many events are in a row at most: a reader who needs one of them reads all. */
export const maxEventsOfRow = 64;
/** About what a row may have, unless a single event has more. */
const maxCharsOfRow = 200_000;

/** The rows for events without gaps. */
export function toEventRows(events: readonly StoredEvent[]): EventRow[] {
  const rows: EventRow[] = [];
  let lines: string[] = [];
  let chars = 0;
  let last = -1;
  const close = () => {
    if (lines.length > 0) rows.push({ sequence: last, count: lines.length, data: lines.join("\n") });
    lines = [];
    chars = 0;
  };
  for (const { sequence, data } of events) {
    const isLine = !data.includes("\n"); // JSON may have line breaks between its tokens
    if (!isLine || lines.length === maxEventsOfRow || chars + data.length > maxCharsOfRow) close();
    lines.push(data);
    chars += data.length;
    last = sequence;
    if (!isLine) close();
  }
  close();
  return rows;
}

/** The events of a row. */
export function fromEventRow({ sequence, count, data }: EventRow): StoredEvent[] {
  if (count === 1) return [{ sequence, data }];
  return data.split("\n").map((line, index) => ({ sequence: sequence - count + 1 + index, data: line }));
}
