// Pages of lists. A page is found by its cursor in an index, however long the list is.

import type { SQLInputValue } from "node:sqlite";
import type { InputItem } from "../../protocol/items.ts";
import type { ConversationItem } from "../conversation-store.ts";
import { unknownCursor } from "../rules.ts";
import type { ListOptions, ListResponsesOptions, Page, StoredResponse } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { findPosition, fromInputRow, type InputRow, maxItemsOfRow } from "./input-rows.ts";
import { type ResponseRow, responseColumns, responseTables, toResponse } from "./rows.ts";

type Values = readonly SQLInputValue[];

interface ListQuery {
  /** `SELECT … WHERE …` for the whole list. */
  readonly select: string;
  readonly values: Values;
  /** The order of the list. */
  readonly columns: readonly string[];
  /** The values of `columns` of an entry. */
  readonly place: (id: string) => Values | undefined;
}

/** A page of an owner's responses, ordered by age. */
export function listResponses(
  db: SqliteConnection,
  owner: string,
  options: ListResponsesOptions,
): Page<StoredResponse> {
  const filters: [condition: string, value: SQLInputValue | undefined][] = [
    ["r.owner = ?", owner],
    ["r.status = ?", options.status],
    ["r.model = ?", options.model],
    ["r.is_background = ?", options.background === undefined ? undefined : Number(options.background)],
  ];
  const used = filters.filter((filter) => filter[1] !== undefined) as [string, SQLInputValue][];
  const { data, hasMore } = readPage<ResponseRow>(db, options, {
    select: `SELECT ${responseColumns} FROM ${responseTables} WHERE ${used.map(([sql]) => sql).join(" AND ")}`,
    values: used.map(([, value]) => value),
    columns: ["r.created_at_ms", "r.id"],
    place: (id) => {
      const [row] = db.all<{ created_at_ms: number }>(
        "SELECT created_at_ms FROM responses WHERE id = ? AND owner = ?",
        id,
        owner,
      );
      return row && [row.created_at_ms, id];
    },
  });
  return { data: data.map(toResponse), hasMore };
}

/** A page of the input items of one response, in their order. */
export function listInput(
  db: SqliteConnection,
  owner: string,
  id: string,
  options: ListOptions,
): Page<InputItem> {
  const { limit, order } = options;
  const positionOf = (parameter: "after" | "before") => {
    const itemId = options[parameter];
    if (itemId === undefined) return undefined;
    const position = findPosition(db, owner, id, itemId);
    if (position === undefined) throw unknownCursor(parameter, itemId);
    return position;
  };
  const after = positionOf("after");
  const before = positionOf("before");
  const isFromEnd = before !== undefined && after === undefined;
  const [first = -1, end = Number.MAX_SAFE_INTEGER] = order === "asc" ? [after, before] : [before, after];
  const direction = (order === "asc") === isFromEnd ? "DESC" : "ASC";
  const rows = db.iterate<InputRow>(
    `SELECT i.position, i.count, i.data FROM responses r JOIN items i ON i.response_key = r.key
      WHERE r.id = ?1 AND r.owner = ?2 AND i.is_output = 0
        AND i.position > ?3 - ${maxItemsOfRow} AND i.position + i.count > ?3 + 1 AND i.position < ?4
      ORDER BY i.position ${direction}`,
    id,
    owner,
    first,
    end,
  );
  const items: InputItem[] = [];
  for (const row of rows) {
    const all = fromInputRow(row).slice(Math.max(0, first + 1 - row.position), end - row.position);
    items.push(...(direction === "ASC" ? all : all.toReversed()));
    if (items.length > limit) break; // one more than requested shows that there are more
  }
  const data = items.slice(0, limit);
  return { data: isFromEnd ? data.toReversed() : data, hasMore: items.length > limit };
}

/** A page of the items of a conversation, in the order in which they were added. */
export function listConversationItems(
  db: SqliteConnection,
  owner: string,
  id: string,
  options: ListOptions,
): Page<ConversationItem> {
  const { data, hasMore } = readPage<{ data: string }>(db, options, {
    select: `SELECT i.data FROM conversations c CROSS JOIN conversation_items i ON i.conversation_key = c.key
      WHERE c.owner = ? AND c.id = ?`,
    values: [owner, id],
    columns: ["i.key"],
    place: (itemId) => {
      const [row] = db.all<{ key: number }>(
        `SELECT i.key FROM conversation_items i JOIN conversations c ON c.key = i.conversation_key
          WHERE i.owner = ? AND i.id = ? AND c.id = ?`,
        owner,
        itemId,
        id,
      );
      return row && [row.key];
    },
  });
  return { data: data.map((row): ConversationItem => JSON.parse(row.data)), hasMore };
}

export function readPage<Row>(db: SqliteConnection, options: ListOptions, query: ListQuery): Page<Row> {
  const { limit, order, after, before } = options;
  const isFromEnd = before !== undefined && after === undefined;
  const columns = query.columns.join(", ");
  const [later, earlier] = order === "asc" ? [">", "<"] : ["<", ">"];
  const bound = (parameter: "after" | "before", id: string | undefined, comparison: string) => {
    if (id === undefined) return { sql: "", values: [] };
    const values = query.place(id);
    if (values === undefined) throw unknownCursor(parameter, id);
    return { sql: ` AND (${columns}) ${comparison} (${values.map(() => "?").join(", ")})`, values };
  };
  const from = bound("after", after, later);
  const to = bound("before", before, earlier);
  const direction = (order === "asc") === isFromEnd ? "DESC" : "ASC";
  const orderBy = query.columns.map((column) => `${column} ${direction}`).join(", ");
  // One more row than requested shows whether there are more.
  const rows = db.all<Row>(
    `${query.select}${from.sql}${to.sql} ORDER BY ${orderBy} LIMIT ?`,
    ...query.values,
    ...from.values,
    ...to.values,
    limit + 1,
  );
  const data = rows.slice(0, limit);
  return { data: isFromEnd ? data.toReversed() : data, hasMore: rows.length > limit };
}
