// Conversations in SQLite. Every query names the owner and uses an index; writes run in the caller's transaction, and
// are refused before the first change.

import type {
  ConversationHistory,
  ConversationItem,
  NewConversation,
  StoredConversation,
} from "../conversation-store.ts";
import type { EncodedItem } from "../encode.ts";
import { checkNewItems } from "../rules.ts";
import { StoreError } from "../store-error.ts";
import type { SqliteConnection } from "./connection.ts";
import { type InputRow, itemsOfRow } from "./input-rows.ts";
import type { ItemRow } from "./rows.ts";

export interface EncodedConversation extends Omit<NewConversation, "metadata" | "items"> {
  readonly metadata: string;
  readonly items: readonly EncodedItem[];
}

interface ConversationRow {
  readonly key: number;
  readonly owner: string;
  readonly id: string;
  readonly created_at_ms: number;
  readonly metadata: string;
  readonly version: number;
}

interface EntryRow {
  readonly response_id: string | null;
  readonly turn: number | null;
  readonly is_closed: number;
  readonly data: string;
}

/** Whether a response of it is running or queued. */
const isBusy = `EXISTS (SELECT 1 FROM responses r WHERE r.owner = c.owner AND r.conversation_id = c.id
  AND r.status IN ('queued', 'in_progress'))`;

export function insertConversation(db: SqliteConnection, conversation: EncodedConversation): void {
  const { owner, id, createdAtMs, metadata, items } = conversation;
  if (findRow(db, owner, id))
    throw new StoreError("duplicate_id", `There is a conversation ${id} already. Give it a new id.`);
  checkItems(db, owner, items);
  const key = db.insert(
    "INSERT INTO conversations (owner, id, created_at_ms, metadata) VALUES (?, ?, ?, ?)",
    owner,
    id,
    createdAtMs,
    metadata,
  );
  insertItems(db, { key, owner }, items);
}

export function readConversationHead(
  db: SqliteConnection,
  owner: string,
  id: string,
): StoredConversation | undefined {
  const row = findRow(db, owner, id);
  return row && toConversation(row);
}

export function setMetadata(
  db: SqliteConnection,
  owner: string,
  id: string,
  metadata: string,
): StoredConversation | undefined {
  const [row] = db.all<ConversationRow>(
    "UPDATE conversations SET metadata = ? WHERE owner = ? AND id = ? RETURNING *",
    metadata,
    owner,
    id,
  );
  return row && toConversation(row);
}

export function addItems(
  db: SqliteConnection,
  owner: string,
  id: string,
  items: readonly EncodedItem[],
): boolean {
  const row = findRow(db, owner, id);
  if (!row) return false;
  checkItems(db, owner, items);
  insertItems(db, row, items);
  return true;
}

export function removeItem(db: SqliteConnection, owner: string, id: string, itemId: string): boolean {
  const row = findRow(db, owner, id);
  if (!row) return false;
  const removed = db.change(
    "DELETE FROM conversation_items WHERE owner = ? AND id = ? AND conversation_key = ?",
    owner,
    itemId,
    row.key,
  );
  if (removed > 0) noteChange(db, row.key);
  return removed > 0;
}

export function readItem(
  db: SqliteConnection,
  owner: string,
  id: string,
  itemId: string,
): ConversationItem | undefined {
  const [row] = db.all<{ data: string }>(
    `SELECT i.data FROM conversation_items i JOIN conversations c ON c.key = i.conversation_key
      WHERE i.owner = ? AND i.id = ? AND c.id = ?`,
    owner,
    itemId,
    id,
  );
  return row && JSON.parse(row.data);
}

export function readHistory(
  db: SqliteConnection,
  owner: string,
  id: string,
): ConversationHistory | undefined {
  const state = readState(db, owner, id);
  if (!state) return undefined;
  const rows = db.all<EntryRow>(
    `SELECT response_id, turn, is_closed, data FROM conversation_items
      WHERE conversation_key = ? ORDER BY key`,
    state.key,
  );
  const entries = rows.map((row) => ({
    item: JSON.parse(row.data),
    responseId: row.response_id,
    turn: row.turn,
    isClosed: row.is_closed === 1,
  }));
  return { entries, version: state.version, isBusy: state.isBusy };
}

/** What decides whether a response may begin in a conversation. */
export function readState(
  db: SqliteConnection,
  owner: string,
  id: string,
): { key: number; version: number; isBusy: boolean } | undefined {
  const [row] = db.all<{ key: number; version: number; is_busy: number }>(
    `SELECT c.key, c.version, ${isBusy} AS is_busy FROM conversations c WHERE c.owner = ? AND c.id = ?`,
    owner,
    id,
  );
  return row && { key: row.key, version: row.version, isBusy: row.is_busy === 1 };
}

/** Adds the items of a response to its conversation, if that still exists. */
export function addResponse(db: SqliteConnection, responseKey: number): void {
  const [response] = db.all<{ key: number; owner: string; id: string; is_closed: number }>(
    `SELECT c.key, r.owner, r.id, r.is_closed
      FROM responses r JOIN conversations c ON c.owner = r.owner AND c.id = r.conversation_id WHERE r.key = ?`,
    responseKey,
  );
  if (!response) return;
  const { key, owner, id: responseId, is_closed: isClosed } = response;
  const rows = db.all<InputRow & ItemRow>(
    `SELECT is_output, id, turn, count, data FROM items WHERE response_key = ? ORDER BY is_output, position`,
    responseKey,
  );
  let added = 0;
  for (const row of rows)
    for (const { id, data } of itemsOfRow(row))
      added += db.change(
        `INSERT INTO conversation_items (conversation_key, owner, id, response_id, turn, is_closed, data)
          VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, id) DO NOTHING`,
        key,
        owner,
        id,
        responseId,
        row.is_output === 1 ? row.turn : null,
        isClosed,
        data,
      );
  if (added > 0) noteChange(db, key);
}

function findRow(db: SqliteConnection, owner: string, id: string): ConversationRow | undefined {
  const [row] = db.all<ConversationRow>("SELECT * FROM conversations WHERE owner = ? AND id = ?", owner, id);
  return row;
}

function checkItems(db: SqliteConnection, owner: string, items: readonly EncodedItem[]): void {
  const taken = db.all<{ id: string }>(
    "SELECT i.id FROM conversation_items i WHERE i.owner = ? AND i.id IN (SELECT value FROM json_each(?))",
    owner,
    JSON.stringify(items.map((item) => item.id)),
  );
  checkNewItems(
    items,
    taken.map((item) => item.id),
  );
}

function insertItems(
  db: SqliteConnection,
  { key, owner }: Pick<ConversationRow, "key" | "owner">,
  items: readonly EncodedItem[],
): void {
  for (const { id, data } of items)
    db.change(
      "INSERT INTO conversation_items (conversation_key, owner, id, is_closed, data) VALUES (?, ?, ?, 0, ?)",
      key,
      owner,
      id,
      data,
    );
  if (items.length > 0) noteChange(db, key);
}

function noteChange(db: SqliteConnection, key: number): void {
  db.change("UPDATE conversations SET version = version + 1 WHERE key = ?", key);
}

function toConversation(row: ConversationRow): StoredConversation {
  return {
    id: row.id,
    owner: row.owner,
    createdAtMs: row.created_at_ms,
    metadata: JSON.parse(row.metadata),
  };
}
