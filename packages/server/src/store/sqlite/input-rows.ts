// Input items in rows: those of a request share rows, because to insert a row takes longer than to write what is in it.
// Only the first item of a row is in the index of ids; the others are found by the place that their ids name. Output items
// have a row each, and are read in the same way.

import { isInputIdOf, readInputId } from "../../protocol/ids.ts";
import type { InputItem, OutputItem } from "../../protocol/items.ts";
import type { EncodedItem } from "../encode.ts";
import type { SqliteConnection } from "./connection.ts";

/** Items that follow each other. */
export interface InputRow {
  /** Of the first item. */
  readonly position: number;
  readonly id: string;
  readonly count: number;
  /** An item as JSON, or an array of more. */
  readonly data: string;
}

export const maxItemsOfRow = 64;
/** What a row may have, unless a single item has more: to read one item is to read its row. */
const maxBytesOfRow = 16_000;

/** The rows for the input of a response. Items whose ids do not name their place have rows of their own. */
export function toInputRows(responseId: string, items: readonly EncodedItem[]): InputRow[] {
  const rows: InputRow[] = [];
  let first = 0;
  let bytes = 0;
  const close = (end: number) => {
    const [item] = items.slice(first, end);
    if (!item) return;
    const count = end - first;
    const data = count === 1 ? item.data : `[${items.slice(first, end).map(dataOf).join(",")}]`;
    rows.push({ position: first, id: item.id, count, data });
    first = end;
    bytes = 0;
  };
  let isNamedBefore = false;
  for (const [position, { id, data }] of items.entries()) {
    const isNamed = isInputIdOf(id, { responseId, position });
    const size = Buffer.byteLength(data);
    const isFull = position - first === maxItemsOfRow || bytes + size > maxBytesOfRow;
    if (!isNamed || !isNamedBefore || isFull) close(position);
    isNamedBefore = isNamed;
    bytes += size;
  }
  close(items.length);
  return rows;
}

/** The items of a row. */
export function fromInputRow({ count, data }: Pick<InputRow, "count" | "data">): InputItem[] {
  const value = JSON.parse(data);
  return count === 1 ? [value] : value;
}

/** The same as they are encoded. */
export function itemsOfRow({ id, count, data }: Pick<InputRow, "id" | "count" | "data">): EncodedItem[] {
  if (count === 1) return [{ id, data }];
  return JSON.parse(data).map((item: { id: string }) => ({ id: item.id, data: JSON.stringify(item) }));
}

/** Items by their ids, in any order. Each row is read once, however many of its items are wanted. */
export function readItemsById(
  db: SqliteConnection,
  owner: string,
  ids: ReadonlySet<string>,
): Map<string, InputItem | OutputItem> {
  const keys = new Set<number>();
  for (const id of ids) {
    const key = findRow(db, owner, id);
    if (key !== undefined) keys.add(key);
  }
  const items = new Map<string, InputItem | OutputItem>();
  for (const key of keys) {
    const [row] = db.all<InputRow>("SELECT count, data FROM items WHERE key = ?", key);
    for (const item of row ? fromInputRow(row) : [])
      if (item.id != null && ids.has(item.id)) items.set(item.id, item);
  }
  return items;
}

/** The position of an input item; undefined if the response has none with this id. */
export function findPosition(
  db: SqliteConnection,
  owner: string,
  responseId: string,
  id: string,
): number | undefined {
  const key = findRow(db, owner, id);
  if (key === undefined) return undefined;
  const [row] = db.all<InputRow>(
    `SELECT i.position, i.count, i.data FROM items i JOIN responses r ON r.key = i.response_key
      WHERE i.key = ? AND i.is_output = 0 AND r.id = ?`,
    key,
    responseId,
  );
  const index = row ? fromInputRow(row).findIndex((item) => item.id === id) : -1;
  return row && index >= 0 ? row.position + index : undefined;
}

/** The key of the row that has an item, if there is such an item. */
function findRow(db: SqliteConnection, owner: string, id: string): number | undefined {
  const [own] = db.all<{ key: number }>("SELECT key FROM items WHERE owner = ? AND id = ?", owner, id);
  if (own) return own.key;
  const place = readInputId(id);
  if (!place) return undefined;
  // The count stands behind the data: it is read of one row only.
  const [shared] = db.all<{ key: number; end: number }>(
    `SELECT i.key, i.position + i.count AS end FROM responses r JOIN items i ON i.response_key = r.key
      WHERE r.id = ? AND r.owner = ? AND i.is_output = 0 AND i.position <= ?
      ORDER BY i.position DESC LIMIT 1`,
    place.responseId,
    owner,
    place.position,
  );
  return shared && shared.end > place.position ? shared.key : undefined;
}

function dataOf({ data }: EncodedItem): string {
  return data;
}
