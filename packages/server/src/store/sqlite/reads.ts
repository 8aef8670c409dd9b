// What is read for clients. Every query names the owner, and finds its rows by an index.

import type { InputItem, OutputItem } from "../../protocol/items.ts";
import type { ChainLink, StoredEvent, StoredOutput, StoredResponse } from "../store.ts";
import type { Connection } from "./connection.ts";
import {
  type ItemRow,
  type ResponseRow,
  responseColumns,
  responseTables,
  type StepRow,
  toItem,
  toLinks,
  toOutput,
  toResponse,
} from "./rows.ts";

export function readResponse(db: Connection, owner: string, id: string): StoredResponse | undefined {
  const [row] = db.all<ResponseRow>(
    `SELECT ${responseColumns} FROM ${responseTables} WHERE r.id = ? AND r.owner = ?`,
    id,
    owner,
  );
  return row && toResponse(row);
}

export function readOutput(db: Connection, owner: string, id: string): StoredOutput[] {
  return db
    .all<ItemRow>(
      `SELECT i.position, i.turn, i.data FROM responses r JOIN items i ON i.response_key = r.key
        WHERE r.id = ? AND r.owner = ? AND i.is_output = 1 ORDER BY i.position`,
      id,
      owner,
    )
    .map(toOutput);
}

export function readItems(db: Connection, owner: string, ids: readonly string[]): (InputItem | OutputItem)[] {
  return db
    .all<{ data: string }>(
      `SELECT i.data FROM items i WHERE i.owner = ?1 AND i.id IN (SELECT value FROM json_each(?2))
       UNION ALL
       SELECT c.data FROM conversation_items c WHERE c.owner = ?1 AND c.id IN (SELECT value FROM json_each(?2))
         AND NOT EXISTS (SELECT 1 FROM items i WHERE i.owner = c.owner AND i.id = c.id)`,
      owner,
      JSON.stringify(ids),
    )
    .map(toItem);
}

export function readEvents(
  db: Connection,
  owner: string,
  id: string,
  after: number,
  limit: number,
): StoredEvent[] {
  return db
    .all<StoredEvent>(
      `SELECT e.sequence, e.data FROM responses r JOIN events e ON e.response_key = r.key
        WHERE r.id = ? AND r.owner = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?`,
      id,
      owner,
      after,
      limit,
    )
    .map(({ sequence, data }) => ({ sequence, data }));
}

/** The response and all before it, oldest first. */
export function readChain(
  db: Connection,
  owner: string,
  id: string,
): { links: readonly ChainLink[]; missing?: string } {
  // A response can only follow one that was there before it: so the keys fall, and a circle cannot be walked.
  const rows = db.all<ResponseRow>(
    `WITH RECURSIVE chain (key, previous) AS (
       SELECT key, previous_response_id FROM responses WHERE id = ? AND owner = ?
       UNION ALL
       SELECT p.key, p.previous_response_id FROM chain c
         JOIN responses p ON p.id = c.previous AND p.owner = ? AND p.key < c.key
     )
     SELECT ${responseColumns} FROM chain c CROSS JOIN ${responseTables} WHERE r.key = c.key ORDER BY c.key`,
    id,
    owner,
    owner,
  );
  const oldest = rows[0];
  if (oldest === undefined) return { links: [], missing: id };
  if (oldest.previous_response_id !== null) return { links: [], missing: oldest.previous_response_id };
  return { links: readLinks(db, rows) };
}

/** The items and steps that belong to these responses. */
export function readLinks(db: Connection, rows: readonly ResponseRow[]): ChainLink[] {
  const keys = JSON.stringify(rows.map((row) => row.key));
  const items = db.all<ItemRow>(
    `SELECT i.response_key, i.is_output, i.position, i.turn, i.data
       FROM json_each(?) k CROSS JOIN items i ON i.response_key = k.value
      ORDER BY i.response_key, i.is_output, i.position`,
    keys,
  );
  const steps = db.all<StepRow>(
    `SELECT s.response_key, s.data FROM json_each(?) k CROSS JOIN steps s ON s.response_key = k.value
      ORDER BY s.key`,
    keys,
  );
  return toLinks(rows, items, steps);
}

/** Walks through the index of what is not over, however much is stored. */
export function countBackground(db: Connection): { queued: number; running: number } {
  const [row] = db.all<{ queued: number; running: number }>(
    `SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
        count(*) FILTER (WHERE status = 'in_progress') AS running
      FROM responses WHERE status IN ('queued', 'in_progress') AND is_background = 1`,
  );
  return { queued: row?.queued ?? 0, running: row?.running ?? 0 };
}
