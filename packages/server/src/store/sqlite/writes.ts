// Writes to runs, in the caller's transaction. They are refused before the first change, or with a `RefusedWrite`.

import { isTerminal, type ResponseStatus } from "../../protocol/status.ts";
import { addsToConversation } from "../conversation-store.ts";
import type { EncodedNew, EncodedOutput, EncodedWrite } from "../encode.ts";
import { checkKey, checkNew, checkPlace, checkWrite, type KnownItem, lostLease } from "../rules.ts";
import type { Lease } from "../run-queue.ts";
import type { StoredEvent, TracePiece } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { addResponse, readState } from "./conversations.ts";
import { toEventRows } from "./event-rows.ts";
import { toInputRows } from "./input-rows.ts";
import { findKey, insertKey } from "./keys.ts";
import { NotChanged, unlessTaken } from "./refused-write.ts";

/** A response as its worker needs it. */
export interface RunRow {
  readonly key: number;
  readonly owner: string;
  readonly status: ResponseStatus;
  readonly conversation_id: string | null;
  readonly last_sequence: number;
  readonly has_credentials: number;
}

/** The holder of a new lease. */
export interface Holder {
  readonly worker: string;
  readonly untilMs: number;
}

/** Adds a response, leased to `holder` if it is in progress. Returns its fence. */
export function insertResponse(
  db: SqliteConnection,
  response: EncodedNew,
  holder: Holder,
  nowMs: number,
): number {
  const { id, owner, conversation, idempotency } = response;
  // Ids are mostly new, and SQLite looks them up itself. But of faults of several kinds, theirs is reported.
  const mayHaveOthers = conversation !== undefined || idempotency !== undefined || response.events.length > 0;
  if (mayHaveOthers) checkIds(db, response);
  else checkNew(response, false, []);
  checkKey(response, idempotency !== undefined && findKey(db, owner, idempotency.key, nowMs) !== undefined);
  checkPlace(response, conversation && readState(db, owner, conversation.id));
  const isLeased = response.status === "in_progress";
  const fence = isLeased ? 1 : 0;
  const values = [
    id,
    owner,
    response.status,
    Number(response.background),
    response.model,
    response.createdAtMs,
    response.previousResponseId,
    conversation?.id ?? null,
    Number(response.isClosed),
    isLeased ? holder.worker : null,
    isLeased ? holder.untilMs : 0,
    fence,
    response.title ?? null,
    response.source ?? null,
    threadOf(db, response),
  ];
  const key = unlessTaken(
    () => db.insert(insertion, ...values),
    () => checkIds(db, response),
  );
  db.change("INSERT INTO requests (response_key, data) VALUES (?, ?)", key, response.request);
  if (response.credentials !== undefined)
    db.change("INSERT INTO credentials (response_key, sealed) VALUES (?, ?)", key, response.credentials);
  unlessTaken(
    () => insertInput(db, key, response),
    () => checkIds(db, response, key),
  );
  insertEvents(db, key, response.events);
  if (idempotency) insertKey(db, owner, key, idempotency, nowMs);
  return fence;
}

const insertion = `INSERT INTO responses (id, owner, status, is_background, model, created_at_ms, previous_response_id,
    conversation_id, is_closed, worker, lease_until_ms, fence, title, source, thread_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function insertInput(db: SqliteConnection, key: number, { id: responseId, owner, input }: EncodedNew): void {
  for (const { position, id, count, data } of toInputRows(responseId, input))
    db.change(
      `INSERT INTO items (response_key, is_output, position, turn, owner, id, is_frozen, count, data)
        VALUES (?, 0, ?, 0, ?, ?, 1, ?, ?)`,
      key,
      position,
      owner,
      id,
      count,
      data,
    );
}

/** Throws a `StoreError` if ids of a new response exist already. `own` is its key, if it is inserted. */
function checkIds(db: SqliteConnection, response: EncodedNew, own = -1): void {
  const isTaken = db.all("SELECT 1 FROM responses WHERE id = ? AND key <> ?", response.id, own).length > 0;
  const taken = db.all<{ id: string }>(
    `SELECT i.id FROM items i
      WHERE i.owner = ? AND i.id IN (SELECT value FROM json_each(?)) AND i.response_key <> ?`,
    response.owner,
    JSON.stringify(response.input.map((item) => item.id)),
    own,
  );
  checkNew(
    response,
    isTaken,
    taken.map((item) => item.id),
  );
}

/** The thread of a new response; null for one that is a thread itself. */
function threadOf(
  db: SqliteConnection,
  { owner, conversation, previousResponseId }: EncodedNew,
): string | null {
  if (conversation !== undefined) return conversation.id;
  if (previousResponseId === null) return null;
  const [previous] = db.all<{ thread: string }>(
    "SELECT coalesce(thread_id, id) AS thread FROM responses WHERE id = ? AND owner = ?",
    previousResponseId,
    owner,
  );
  return previous?.thread ?? previousResponseId;
}

/** The run of a lease. Throws a `StoreError` (`lost_lease`) if it is not held. */
export function heldRun(db: SqliteConnection, lease: Lease): RunRow {
  const [run] = db.all<RunRow>(
    `SELECT r.key, r.owner, r.status, r.conversation_id,
        coalesce((SELECT max(e.sequence) FROM events e WHERE e.response_key = r.key), -1) AS last_sequence,
        EXISTS (SELECT 1 FROM credentials c WHERE c.response_key = r.key) AS has_credentials
      FROM responses r WHERE r.id = ? AND r.fence = ? AND r.worker IS NOT NULL`,
    lease.responseId,
    lease.fence,
  );
  if (run === undefined) throw lostLease(lease);
  return run;
}

export function addToRun(db: SqliteConnection, lease: Lease, write: EncodedWrite, nowMs: number): void {
  const run = heldRun(db, lease);
  const state = { id: lease.responseId, status: run.status, lastSequence: run.last_sequence };
  checkWrite({ ...state, items: [] }, { ...write, output: [] });
  // Items are mostly new, or open, and SQLite itself sees where they are not: also in this very write.
  for (const item of write.output)
    unlessTaken(
      () => putOutput(db, run, item),
      () => checkWrite({ ...state, items: knownItems(db, run, item) }, { ...write, output: [item] }),
    );
  insertEvents(db, run.key, write.events);
  for (const step of write.steps) {
    db.change("INSERT INTO steps (response_key, data) VALUES (?, ?)", run.key, step);
  }
  if (write.update) updateResponse(db, run, write.update, nowMs);
  if (write.trace) insertTrace(db, run.key, write.trace);
}

function insertTrace(db: SqliteConnection, key: number, { first, last, lines }: TracePiece): void {
  db.change(
    "INSERT INTO traces (response_key, first, last, lines) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    key,
    first,
    last,
    lines,
  );
}

function insertEvents(db: SqliteConnection, key: number, events: readonly StoredEvent[]): void {
  for (const { sequence, count, data } of toEventRows(events)) {
    db.change(
      "INSERT INTO events (response_key, sequence, count, data) VALUES (?, ?, ?, ?)",
      key,
      sequence,
      count,
      data,
    );
  }
}

/** Throws a `NotChanged` if there is another item at its index, or one that is frozen. */
function putOutput(db: SqliteConnection, run: RunRow, item: EncodedOutput): void {
  const changed = db.change(
    `INSERT INTO items (response_key, is_output, position, turn, owner, id, is_frozen, data)
      VALUES (?, 1, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (response_key, is_output, position)
      DO UPDATE SET turn = excluded.turn, is_frozen = excluded.is_frozen, data = excluded.data
        WHERE id = excluded.id AND is_frozen = 0`,
    run.key,
    item.index,
    item.turn,
    run.owner,
    item.id,
    Number(item.isFrozen),
    item.data,
  );
  if (changed === 0) throw new NotChanged();
}

/** The existing items with the index or the id of a new one. */
function knownItems(db: SqliteConnection, run: RunRow, { id, index }: EncodedOutput): KnownItem[] {
  return db
    .all<{ id: string; position: number; is_frozen: number; is_own: number }>(
      `SELECT id, position, is_frozen, response_key = ?1 AND is_output = 1 AS is_own
        FROM items WHERE response_key = ?1 AND is_output = 1 AND position = ?2
       UNION
       SELECT id, position, is_frozen, response_key = ?1 AND is_output = 1
        FROM items WHERE owner = ?3 AND id = ?4`,
      run.key,
      index,
      run.owner,
      id,
    )
    .map((row) => ({
      id: row.id,
      index: row.is_own === 1 ? row.position : undefined,
      isFrozen: row.is_frozen === 1,
    }));
}

function updateResponse(
  db: SqliteConnection,
  run: RunRow,
  update: NonNullable<EncodedWrite["update"]>,
  nowMs: number,
): void {
  const { status } = update;
  const isOver = status !== undefined && isTerminal(status);
  db.change(
    `UPDATE responses SET
       status = coalesce(?1, status),
       completed_at_ms = coalesce(?2, completed_at_ms),
       ended_at_ms = CASE WHEN ?3 THEN coalesce(?2, completed_at_ms, ?4) ELSE ended_at_ms END,
       error = coalesce(?5, error),
       incomplete_reason = coalesce(?6, incomplete_reason),
       usage = coalesce(?7, usage)
     WHERE key = ?8`,
    status ?? null,
    update.completedAtMs ?? null,
    Number(isOver),
    nowMs,
    update.error ?? null,
    update.incompleteReason ?? null,
    update.usage ?? null,
    run.key,
  );
  if (isOver && run.has_credentials === 1)
    db.change("DELETE FROM credentials WHERE response_key = ?", run.key);
  if (isOver && run.conversation_id !== null && addsToConversation(status)) addResponse(db, run.key);
}
