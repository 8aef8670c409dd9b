// Queries of conversations. Every one names the owner and uses an index.

import type { ConversationHistory, ConversationItem, StoredConversation } from "../conversation-store.ts";
import type { PostgresConnection } from "./connection.ts";
import { fromDbText, toDbText } from "./text.ts";

export interface ConversationRow {
  readonly owner: string;
  readonly id: string;
  readonly created_at_ms: number;
  readonly metadata: string;
}

interface EntryRow {
  readonly response_id: string | null;
  readonly turn: number | null;
  readonly is_closed: boolean;
  readonly data: string;
}

export async function readConversationHead(
  db: PostgresConnection,
  owner: string,
  id: string,
): Promise<StoredConversation | undefined> {
  const [row] = await db.read<ConversationRow>(
    `SELECT owner, id, created_at_ms, metadata FROM ${db.schema}.conversations WHERE owner = $1 AND id = $2`,
    [toDbText(owner), toDbText(id)],
  );
  return row && toConversation(row);
}

export async function readConversationItem(
  db: PostgresConnection,
  owner: string,
  id: string,
  itemId: string,
): Promise<ConversationItem | undefined> {
  const [row] = await db.read<{ data: string }>(
    `SELECT i.data FROM ${db.schema}.conversation_items i JOIN ${db.schema}.conversations c ON c.key = i.conversation_key
      WHERE i.ref = md5(length($1)::text || ':' || $1 || $3)::uuid AND c.owner = $1 AND c.id = $2`,
    [toDbText(owner), toDbText(id), toDbText(itemId)],
  );
  return row && JSON.parse(row.data);
}

/** All of one moment: the version is that of the items. */
export async function readHistory(
  db: PostgresConnection,
  owner: string,
  id: string,
): Promise<ConversationHistory | undefined> {
  const s = db.schema;
  const [row] = await db.read<{ version: number; is_busy: boolean; entries: EntryRow[] }>(
    `SELECT c.version,
        EXISTS (SELECT 1 FROM ${s}.responses r WHERE r.owner = c.owner AND r.conversation_id = c.id
          AND r.status IN ('queued', 'in_progress')) AS is_busy,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('response_id', i.response_id, 'turn', i.turn,
            'is_closed', i.is_closed, 'data', i.data) ORDER BY i.key), '[]')
          FROM ${s}.conversation_items i WHERE i.conversation_key = c.key) AS entries
      FROM ${s}.conversations c WHERE c.owner = $1 AND c.id = $2`,
    [toDbText(owner), toDbText(id)],
  );
  if (!row) return undefined;
  const entries = row.entries.map((entry) => ({
    item: JSON.parse(entry.data),
    responseId: entry.response_id === null ? null : fromDbText(entry.response_id),
    turn: entry.turn,
    isClosed: entry.is_closed,
  }));
  return { entries, version: row.version, isBusy: row.is_busy };
}

export function toConversation(row: ConversationRow): StoredConversation {
  return {
    id: fromDbText(row.id),
    owner: fromDbText(row.owner),
    createdAtMs: row.created_at_ms,
    metadata: JSON.parse(row.metadata),
  };
}
