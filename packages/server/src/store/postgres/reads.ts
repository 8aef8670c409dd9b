// Queries for clients. Each names the owner, uses an index, and is one round trip.

import type { InputItem, OutputItem } from "../../protocol/items.ts";
import { lostLease } from "../rules.ts";
import type { Lease } from "../run-queue.ts";
import type { StoredEvent, StoredOutput, StoredResponse, StoredRun } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";
import {
  type ItemRow,
  type ResponseRow,
  responseColumns,
  responseTables,
  toItem,
  toItems,
  toOutput,
  toResponse,
} from "./rows.ts";
import { fromDbText, toDbText } from "./text.ts";

export async function readResponse(
  db: PostgresConnection,
  owner: string,
  id: string,
): Promise<StoredResponse | undefined> {
  const [row] = await db.read<ResponseRow>(
    `SELECT ${responseColumns} FROM ${responseTables(db.schema)} WHERE r.id = $1 AND r.owner = $2`,
    [toDbText(id), toDbText(owner)],
  );
  return row && toResponse(row);
}

export async function readOutput(db: PostgresConnection, owner: string, id: string): Promise<StoredOutput[]> {
  const rows = await db.read<ItemRow>(
    `SELECT i.position, i.turn, i.data FROM ${db.schema}.responses r
      JOIN ${db.schema}.items i ON i.response_key = r.key
      WHERE r.id = $1 AND r.owner = $2 AND i.is_output ORDER BY i.position`,
    [toDbText(id), toDbText(owner)],
  );
  return rows.map(toOutput);
}

export async function readItems(
  db: PostgresConnection,
  owner: string,
  ids: readonly string[],
): Promise<(InputItem | OutputItem)[]> {
  if (ids.length === 0) return [];
  const rows = await db.read<{ data: string }>(
    `WITH wanted AS (
       SELECT DISTINCT md5(length($1)::text || ':' || $1 || id)::uuid AS ref FROM unnest($2::text[]) given (id))
     SELECT coalesce(i.data, c.data) AS data FROM wanted w
       LEFT JOIN ${db.schema}.items i ON i.ref = w.ref
       LEFT JOIN ${db.schema}.conversation_items c ON c.ref = w.ref
      WHERE i.data IS NOT NULL OR c.data IS NOT NULL`,
    [toDbText(owner), ids.map(toDbText)],
  );
  return rows.map(toItem);
}

export async function readEvents(
  db: PostgresConnection,
  owner: string,
  id: string,
  after: number,
  limit: number,
): Promise<StoredEvent[]> {
  const rows = await db.read<{ first_sequence: number; data: string[] }>(
    `SELECT e.first_sequence, e.data FROM ${db.schema}.responses r
      JOIN ${db.schema}.events e ON e.response_key = r.key
      WHERE r.id = $1 AND r.owner = $2 AND e.last_sequence > $3 AND e.first_sequence <= $3::bigint + $4
      ORDER BY e.last_sequence`,
    [toDbText(id), toDbText(owner), after, limit],
  );
  return rows
    .flatMap((row) => row.data.map((data, index) => ({ sequence: row.first_sequence + index, data })))
    .filter(({ sequence }) => sequence > after)
    .slice(0, limit);
}

/** How far the run of a lease has come. Throws a `StoreError` (`lost_lease`) if it is not held. */
export async function readRun(db: PostgresConnection, lease: Lease): Promise<StoredRun> {
  const s = db.schema;
  const [row] = await db.read<{
    last_sequence: number;
    credentials: string | null;
    items: ItemRow[] | null;
    steps: string[] | null;
    trace: StoredRun["trace"];
  }>(
    `SELECT r.last_sequence, q.credentials,
        (SELECT jsonb_agg(jsonb_build_object('is_output', i.is_output, 'position', i.position, 'turn', i.turn,
            'data', i.data) ORDER BY i.is_output, i.position)
          FROM ${s}.items i WHERE i.response_key = r.key) AS items,
        (SELECT array_agg(step ORDER BY t.key, n) FROM ${s}.steps t, unnest(t.data) WITH ORDINALITY u (step, n)
          WHERE t.response_key = r.key) AS steps,
        (SELECT jsonb_build_object('next', coalesce(max(t.last), -1) + 1,
            'bytes', coalesce(sum(octet_length(t.lines)), 0))
          FROM ${s}.traces t WHERE t.response_key = r.key) AS trace
      FROM ${s}.responses r JOIN ${s}.requests q ON q.response_key = r.key
      WHERE r.id = $1 AND r.fence = $2 AND r.worker IS NOT NULL`,
    [toDbText(lease.responseId), lease.fence],
  );
  if (!row) throw lostLease(lease);
  return {
    ...toItems(row.items ?? []),
    steps: (row.steps ?? []).map((step) => JSON.parse(step)),
    lastSequence: row.last_sequence,
    credentials: row.credentials ?? undefined,
    trace: row.trace,
  };
}

export async function findKey(
  db: PostgresConnection,
  owner: string,
  key: string,
  now: (() => number) | undefined,
): Promise<{ responseId: string; fingerprint: string } | undefined> {
  const [row] = await db.read<{ id: string; fingerprint: string }>(
    `SELECT r.id, k.fingerprint FROM ${db.schema}.idempotency_keys k
      JOIN ${db.schema}.responses r ON r.key = k.response_key
      WHERE k.ref = md5(length($1)::text || ':' || $1 || $2)::uuid
        AND k.until_ms > coalesce($3::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`,
    [toDbText(owner), toDbText(key), now?.() ?? null],
  );
  return row && { responseId: fromDbText(row.id), fingerprint: fromDbText(row.fingerprint) };
}
