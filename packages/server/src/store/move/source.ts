// The SQLite file that is moved. It is locked like that of a server, so that nobody writes to it meanwhile.

import { createHash } from "node:crypto";
import type { SQLInputValue } from "node:sqlite";
import { noteBeside, readCrashNote } from "../crash-note.ts";
import { prepareFile, SqliteConnection } from "../sqlite/connection.ts";
import { fromEventRow } from "../sqlite/event-rows.ts";
import { toStoreError } from "../sqlite/faults.ts";
import { itemsOfRow } from "../sqlite/input-rows.ts";
import { lockForProcess } from "../sqlite/process-lock.ts";
import { endLeases } from "../sqlite/queue.ts";
import type { MovedRow, MovedTable, MovedValue } from "./moved-tables.ts";

/** Rows that are written together. */
export interface Batch {
  readonly rows: readonly MovedRow[];
  /** Whether there may be more. */
  readonly isFull: boolean;
}

const maxRows = 1000;
/** About what one row may have at most, so that a batch is never much larger than its largest row. */
const maxChars = 2_000_000;

export class MoveSource implements Disposable {
  readonly path: string;
  readonly #connection: SqliteConnection;
  readonly #unlock: () => void;

  /**
   * Opens and locks the file, and brings it to the newest version as a server does. Throws a `StoreError`: `in_use` when
   * a server has it open.
   */
  constructor(path: string) {
    this.path = prepareFile(path);
    this.#unlock = lockForProcess(this.path);
    try {
      this.#connection = new SqliteConnection(this.path);
      // The file belongs to one process: the holders of leases are gone.
      this.#connection.inTransaction(() => endLeases(this.#connection, readCrashNote(noteBeside(this.path))));
    } catch (error) {
      this.#unlock();
      throw toStoreError(error, this.path);
    }
  }

  /** Tells this store from all others: made from its own secret, or from its path if it never had a server. */
  identity(): string {
    const [secret] = this.#connection.all<{ value: string }>(
      "SELECT value FROM secrets WHERE name = ?",
      "seal",
    );
    const text = secret?.value ?? this.path;
    return createHash("sha256").update(text).digest("hex").slice(0, 32);
  }

  count({ from, counts }: MovedTable): number {
    const rows = counts ? "sum(count)" : "count(*)";
    const [row] = this.#connection.all<{ rows: number | null }>(`SELECT ${rows} AS rows FROM ${from}`);
    return row?.rows ?? 0;
  }

  /** The rows after those that end with `after`; from the first if undefined. */
  read({ from, columns, order, counts }: MovedTable, after: readonly MovedValue[] | undefined): Batch {
    const names = Object.keys(columns);
    const types = Object.values(columns);
    const condition = after ? `WHERE (${order.join(", ")}) > (${order.map(() => "?").join(", ")})` : "";
    const statement = this.#connection.database.prepare(
      `SELECT ${counts ? "count, " : ""}${names.join(", ")} FROM ${from} ${condition} ORDER BY ${order.join(", ")} LIMIT ${maxRows}`,
    );
    const rows: MovedRow[] = [];
    let read = 0;
    let chars = 0;
    for (const found of statement.iterate(...(after ?? []).map(toInput))) {
      read += 1;
      const row = names.map((name, index) => toMoved(found[name], types[index] === "boolean"));
      rows.push(...(counts ? expandRow[counts](row, Number(found["count"])) : [row]));
      for (const value of row) chars += typeof value === "string" ? value.length : 8;
      if (chars > maxChars) return { rows, isFull: true };
    }
    return { rows, isFull: read === maxRows };
  }

  [Symbol.dispose](): void {
    this.#connection.close();
    this.#unlock();
  }
}

/**
 * A row as several. The next batch begins after the last of them: it has the place of its row, or one before that of the
 * next row.
 */
const expandRow = { events: singleEvents, items: singleItems };

function singleItems(row: MovedRow, count: number): MovedRow[] {
  const [response = null, isOutput = null, position, turn = null, isFrozen = null, owner = null, id, data] =
    row;
  return itemsOfRow({ id: String(id), count, data: String(data) }).map((item, index) => [
    response,
    isOutput,
    Number(position) + index,
    turn,
    isFrozen,
    owner,
    item.id,
    item.data,
  ]);
}

function singleEvents([response = null, sequence, data]: MovedRow, count: number): MovedRow[] {
  const row = { sequence: Number(sequence), count, data: String(data) };
  return fromEventRow(row).map((event) => [response, event.sequence, event.data]);
}

function toMoved(value: unknown, isBoolean: boolean): MovedValue {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64");
  if (isBoolean) return value === 1;
  return typeof value === "string" || typeof value === "number" ? value : null;
}

function toInput(value: MovedValue): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : value;
}
