// Pages of lists. A page is found by its cursor in an index, in one round trip, however long the list is.

import type { InputItem } from "../../protocol/items.ts";
import type { ConversationItem } from "../conversation-store.ts";
import { unknownCursor } from "../rules.ts";
import type { ListOptions, ListResponsesOptions, Page, StoredResponse } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";
import { type ResponseRow, responseColumns, responseTables, toResponse } from "./rows.ts";
import { toDbText } from "./text.ts";

export interface ListQuery {
  /** What is selected, without `SELECT`. */
  readonly columns: string;
  /** `FROM … WHERE …` for the whole list. */
  readonly from: string;
  /** The values of `from`, `$1` and so on. */
  readonly values: readonly unknown[];
  /** The order of the list. */
  readonly order: readonly string[];
  /** `SELECT` of the values of `order` of the entry with the id `$n`. */
  readonly place: (parameter: string) => string;
}

/** A page of an owner's responses, ordered by age. */
export async function listResponses(
  db: PostgresConnection,
  owner: string,
  options: ListResponsesOptions,
): Promise<Page<StoredResponse>> {
  const { status, model, background } = options;
  const filters: [column: string, value: unknown][] = [
    ["r.owner", toDbText(owner)],
    ["r.status", status],
    ["r.model", model === undefined ? undefined : toDbText(model)],
    ["r.is_background", background],
  ];
  const used = filters.filter(([, value]) => value !== undefined);
  const { data, hasMore } = await readPage<ResponseRow>(db, options, {
    columns: responseColumns,
    from: `FROM ${responseTables(db.schema)} WHERE ${used.map(([column], index) => `${column} = $${index + 1}`).join(" AND ")}`,
    values: used.map(([, value]) => value),
    order: ["r.created_at_ms", "r.id"],
    place: (id) => `SELECT created_at_ms, id FROM ${db.schema}.responses WHERE id = ${id} AND owner = $1`,
  });
  return { data: data.map(toResponse), hasMore };
}

/** A page of the input items of one response, in their order. */
export async function listInput(
  db: PostgresConnection,
  owner: string,
  id: string,
  options: ListOptions,
): Promise<Page<InputItem>> {
  const from = `FROM ${db.schema}.responses r JOIN ${db.schema}.items i ON i.response_key = r.key
    WHERE r.owner = $1 AND r.id = $2 AND NOT i.is_output`;
  const { data, hasMore } = await readPage<{ data: string }>(db, options, {
    columns: "i.data",
    from,
    values: [toDbText(owner), toDbText(id)],
    order: ["i.position"],
    place: (item) =>
      `SELECT i.position ${from} AND i.ref = md5(length($1)::text || ':' || $1 || ${item})::uuid`,
  });
  return { data: data.map((row): InputItem => JSON.parse(row.data)), hasMore };
}

/** A page of the items of a conversation, in the order in which they were added. */
export async function listConversationItems(
  db: PostgresConnection,
  owner: string,
  id: string,
  options: ListOptions,
): Promise<Page<ConversationItem>> {
  const from = `FROM ${db.schema}.conversations c JOIN ${db.schema}.conversation_items i ON i.conversation_key = c.key
    WHERE c.owner = $1 AND c.id = $2`;
  const { data, hasMore } = await readPage<{ data: string }>(db, options, {
    columns: "i.data",
    from,
    values: [toDbText(owner), toDbText(id)],
    order: ["i.key"],
    place: (item) => `SELECT i.key ${from} AND i.ref = md5(length($1)::text || ':' || $1 || ${item})::uuid`,
  });
  return { data: data.map((row): ConversationItem => JSON.parse(row.data)), hasMore };
}

export async function readPage<Row extends object>(
  db: PostgresConnection,
  options: Omit<ListOptions, "limit"> & { readonly limit: number },
  query: ListQuery,
): Promise<Page<Row>> {
  const { limit, order, after, before } = options;
  const isFromEnd = before !== undefined && after === undefined;
  const values = [...query.values];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const [later, earlier] = order === "asc" ? [">", "<"] : ["<", ">"];
  const cursor = (id: string | undefined, comparison: string) => {
    if (id === undefined) return { isThere: "true", bound: "" };
    const place = query.place(parameter(toDbText(id)));
    return {
      isThere: `EXISTS (${place})`,
      bound: ` AND (${query.order.join(", ")}) ${comparison} (${place})`,
    };
  };
  const from = cursor(after, later);
  const to = cursor(before, earlier);
  const direction = (order === "asc") === isFromEnd ? "DESC" : "ASC";
  const orderBy = query.order.map((column) => `${column} ${direction}`).join(", ");
  // One more row than requested shows whether there are more. The first row says whether the cursors exist.
  const rows = await db.read<Row & { has_after: boolean; has_before: boolean; is_entry: boolean | null }>(
    `WITH page AS (SELECT true AS is_entry, ${query.columns} ${query.from}${from.bound}${to.bound}
       ORDER BY ${orderBy} LIMIT ${parameter(limit + 1)})
     SELECT ${from.isThere} AS has_after, ${to.isThere} AS has_before, page.*
       FROM (SELECT 1) one LEFT JOIN page ON true`,
    values,
  );
  const [first] = rows;
  if (after !== undefined && first && !first.has_after) throw unknownCursor("after", after);
  if (before !== undefined && first && !first.has_before) throw unknownCursor("before", before);
  const found = rows.filter((row) => row.is_entry);
  const data = found.slice(0, limit);
  return { data: isFromEnd ? data.toReversed() : data, hasMore: found.length > limit };
}
