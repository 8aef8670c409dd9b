// Queries for clients. Each names the owner and uses an index.

import type { InputItem, OutputItem } from "../../protocol/items.ts";
import type { StoredEvent, StoredOutput, StoredResponse, StoredRun } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { type EventRow, fromEventRow, maxEventsOfRow } from "./event-rows.ts";
import { readItemsById } from "./input-rows.ts";
import {
  type ItemRow,
  type ResponseRow,
  responseColumns,
  responseTables,
  toItems,
  toOutput,
  toResponse,
} from "./rows.ts";
import type { RunRow } from "./writes.ts";

export function readResponse(db: SqliteConnection, owner: string, id: string): StoredResponse | undefined {
  const [row] = db.all<ResponseRow>(
    `SELECT ${responseColumns} FROM ${responseTables} WHERE r.id = ? AND r.owner = ?`,
    id,
    owner,
  );
  return row && toResponse(row);
}

export function readOutput(db: SqliteConnection, owner: string, id: string): StoredOutput[] {
  return db
    .all<ItemRow>(
      `SELECT i.position, i.turn, i.data FROM responses r JOIN items i ON i.response_key = r.key
        WHERE r.id = ? AND r.owner = ? AND i.is_output = 1 ORDER BY i.position`,
      id,
      owner,
    )
    .map(toOutput);
}

export function readItems(
  db: SqliteConnection,
  owner: string,
  ids: readonly string[],
): (InputItem | OutputItem)[] {
  const found = readItemsById(db, owner, new Set(ids));
  const others = ids.filter((id) => !found.has(id));
  const ofConversations = db.all<{ data: string }>(
    `SELECT data FROM conversation_items WHERE owner = ? AND id IN (SELECT value FROM json_each(?))`,
    owner,
    JSON.stringify(others),
  );
  return [...found.values(), ...ofConversations.map(({ data }) => JSON.parse(data))];
}

export function readEvents(
  db: SqliteConnection,
  owner: string,
  id: string,
  after: number,
  limit: number,
): StoredEvent[] {
  return db
    .all<EventRow>(
      `SELECT e.sequence, e.count, e.data FROM responses r JOIN events e ON e.response_key = r.key
        WHERE r.id = ? AND r.owner = ? AND e.sequence > ? AND e.sequence < ? ORDER BY e.sequence`,
      id,
      owner,
      after,
      after + limit + maxEventsOfRow,
    )
    .flatMap(fromEventRow)
    .filter(({ sequence }) => sequence > after && sequence <= after + limit);
}

/** How far a run has come. */
export function readRun(db: SqliteConnection, { key, last_sequence: lastSequence }: RunRow): StoredRun {
  const items = db.all<ItemRow>(
    `SELECT is_output, position, turn, count, data FROM items WHERE response_key = ? ORDER BY is_output, position`,
    key,
  );
  const steps = db.all<{ data: string }>("SELECT data FROM steps WHERE response_key = ? ORDER BY key", key);
  const [kept] = db.all<{ sealed: string }>("SELECT sealed FROM credentials WHERE response_key = ?", key);
  const [trace = { next: 0, bytes: 0 }] = db.all<StoredRun["trace"]>(
    `SELECT coalesce(max(last), -1) + 1 AS next, coalesce(sum(octet_length(lines)), 0) AS bytes
      FROM traces WHERE response_key = ?`,
    key,
  );
  return {
    ...toItems(items),
    steps: steps.map(({ data }) => JSON.parse(data)),
    lastSequence,
    credentials: kept?.sealed,
    trace: { ...trace },
  };
}
