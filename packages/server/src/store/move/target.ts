// The PostgreSQL database that a store is moved to. How far the move has come is kept in the same transaction as the rows,
// so that it can be interrupted at any moment.

import type pg from "pg";
import { fromDbText, toDbText } from "../postgres/text.ts";
import {
  type ColumnType,
  keyedTables,
  type MovedRow,
  type MovedTable,
  type MovedValue,
} from "./moved-tables.ts";

/** How far a table is moved. */
export interface TableProgress {
  /** The last row, by the columns that order the rows; undefined before the first. */
  readonly after: readonly MovedValue[] | undefined;
  readonly rows: number;
  readonly isDone: boolean;
}

/** How many characters of an array make one row. */
const packedChars = 200_000;
const packedRows = 500;

/** `moves` has one row for the whole, and `move_progress` one for each table. */
const progressTables = (s: string): string => `
CREATE TABLE IF NOT EXISTS ${s}.moves (
  source text PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE TABLE IF NOT EXISTS ${s}.move_progress (
  name text PRIMARY KEY,
  after jsonb,
  rows bigint NOT NULL DEFAULT 0,
  is_done boolean NOT NULL DEFAULT false
);`;

export class MoveTarget {
  readonly #client: pg.ClientBase;
  /** The quoted name of the schema. */
  readonly #schema: string;

  constructor(client: pg.ClientBase, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  /** The state of an earlier move; undefined if there was none. */
  async findMove(): Promise<{ source: string; isFinished: boolean } | undefined> {
    await this.#client.query(progressTables(this.#schema));
    const { rows } = await this.#client.query<{ source: string; finished_at: Date | null }>(
      `SELECT source, finished_at FROM ${this.#schema}.moves`,
    );
    const [row] = rows;
    return row && { source: row.source, isFinished: row.finished_at !== null };
  }

  async begin(source: string): Promise<void> {
    await this.#client.query(`INSERT INTO ${this.#schema}.moves (source) VALUES ($1)`, [source]);
  }

  /** Names of the tables that have rows. */
  async filledTables(names: readonly string[]): Promise<string[]> {
    const filled: string[] = [];
    for (const name of names) {
      const { rows } = await this.#client.query(`SELECT 1 FROM ${this.#schema}.${name} LIMIT 1`);
      if (rows.length > 0) filled.push(name);
    }
    return filled;
  }

  async progress({ name }: MovedTable): Promise<TableProgress> {
    const { rows } = await this.#client.query<{ after: MovedValue[] | null; rows: string; is_done: boolean }>(
      `SELECT after, rows, is_done FROM ${this.#schema}.move_progress WHERE name = $1`,
      [name],
    );
    const [row] = rows;
    return { after: row?.after ?? undefined, rows: Number(row?.rows ?? 0), isDone: row?.is_done ?? false };
  }

  /** Writes rows, and that they are written. */
  async write(table: MovedTable, rows: readonly MovedRow[], progress: TableProgress): Promise<void> {
    const s = this.#schema;
    await this.#client.query("BEGIN");
    try {
      if (rows.length > 0) await this.#insert(table, rows);
      await this.#client.query(
        `INSERT INTO ${s}.move_progress (name, after, rows, is_done) VALUES ($1, $2, $3, $4)
          ON CONFLICT (name) DO UPDATE SET after = excluded.after, rows = excluded.rows, is_done = excluded.is_done`,
        [table.name, JSON.stringify(progress.after ?? null), progress.rows, progress.isDone],
      );
      await this.#client.query("COMMIT");
    } catch (error) {
      await this.#client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  }

  /** The rows in their order, with those that were packed one by one. */
  async *rows(table: MovedTable): AsyncGenerator<MovedRow> {
    const columns = writtenColumns(table);
    const names = Object.keys(columns);
    const types = Object.values(columns);
    const order = table.isPacked === "events" ? ["response_key", "last_sequence"] : table.order;
    let after: readonly unknown[] | undefined;
    while (true) {
      const condition = after
        ? `WHERE (${order.join(", ")}) > (${order.map((_, i) => `$${i + 1}`).join(", ")})`
        : "";
      const { rows } = await this.#client.query<Record<string, unknown>>(
        `SELECT ${names.map((name, i) => selected(name, types[i])).join(", ")} FROM ${this.#schema}.${table.name}
          ${condition} ORDER BY ${order.join(", ")} LIMIT 100`,
        after ? [...after] : [],
      );
      for (const row of rows)
        yield* unpacked(
          table,
          names.map((name, i) => toMoved(row[name], types[i])),
        );
      const last = rows.at(-1);
      if (!last) return;
      after = order.map((name) => last[name]);
    }
  }

  /** New rows get keys after those that were moved; servers may use the store from now on. */
  async finish(): Promise<void> {
    const s = this.#schema;
    await this.#client.query("BEGIN");
    try {
      for (const name of keyedTables)
        await this.#client.query(
          `SELECT setval(pg_get_serial_sequence($1, 'key'), coalesce((SELECT max(key) FROM ${s}.${name}), 0) + 1, false)`,
          [`${s}.${name}`],
        );
      await this.#client.query(`UPDATE ${s}.moves SET finished_at = now()`);
      await this.#client.query("COMMIT");
    } catch (error) {
      await this.#client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  }

  async #insert(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    const columns = writtenColumns(table);
    const names = Object.keys(columns);
    const types = Object.values(columns);
    const records = packed(table, rows).map((row) =>
      Object.fromEntries(row.map((value, i) => [names[i], toWritten(value, types[i])])),
    );
    await this.#client.query(
      `INSERT INTO ${this.#schema}.${table.name} (${names.join(", ")}) OVERRIDING SYSTEM VALUE
        SELECT ${names.map((name, i) => (types[i] === "chunk" ? `decode(${name}, 'base64')` : name)).join(", ")}
        FROM json_to_recordset($1::json) AS given (${names.map((name, i) => `${name} ${sqlType(types[i])}`).join(", ")})`,
      [JSON.stringify(records)],
    );
  }
}

type WrittenType = ColumnType | "texts";
type WrittenValue = MovedValue | readonly string[];

/** The columns of a table in PostgreSQL. */
function writtenColumns({ columns, isPacked }: MovedTable): Readonly<Record<string, WrittenType>> {
  if (isPacked === "events")
    return { response_key: "bigint", first_sequence: "integer", last_sequence: "integer", data: "texts" };
  if (isPacked === "steps") return { response_key: "bigint", key: "bigint", data: "texts" };
  return columns;
}

/** Rows as they are written: events that follow each other in one row, as a run writes them. */
function packed({ isPacked }: MovedTable, rows: readonly MovedRow[]): (readonly WrittenValue[])[] {
  if (isPacked === undefined) return [...rows];
  if (isPacked === "steps")
    return rows.map(([response, key, data]) => [response ?? null, key ?? null, [String(data)]]);
  const groups: { response: MovedValue; first: number; data: string[]; chars: number }[] = [];
  for (const [response = null, sequence, data] of rows) {
    const text = String(data);
    const group = groups.at(-1);
    const isNext = group && group.response === response && group.first + group.data.length === sequence;
    if (isNext && group.data.length < packedRows && group.chars < packedChars) {
      group.data.push(text);
      group.chars += text.length;
    } else groups.push({ response, first: Number(sequence), data: [text], chars: text.length });
  }
  return groups.map(({ response, first, data }) => [response, first, first + data.length - 1, data]);
}

function* unpacked({ isPacked }: MovedTable, row: readonly WrittenValue[]): Generator<MovedRow> {
  if (isPacked === undefined) {
    yield row as MovedRow;
    return;
  }
  const [response = null, second = null] = row as MovedRow;
  const texts = row.at(-1) as readonly string[];
  for (const [index, text] of texts.entries())
    yield [response, isPacked === "events" ? Number(second) + index : second, text];
}

function sqlType(type: WrittenType | undefined): string {
  if (type === "texts") return "text[]";
  return type === "name" || type === "chunk" || type === undefined ? "text" : type;
}

function selected(name: string, type: WrittenType | undefined): string {
  return type === "chunk" ? `replace(encode(${name}, 'base64'), E'\\n', '') AS ${name}` : name;
}

function toWritten(value: WrittenValue, type: WrittenType | undefined): WrittenValue {
  return type === "name" && typeof value === "string" ? toDbText(value) : value;
}

/** Numbers of 64 bits come as text. */
function toMoved(value: unknown, type: WrittenType | undefined): WrittenValue {
  if (value === null || value === undefined) return null;
  if (type === "bigint" || type === "integer") return Number(value);
  if (type === "name" && typeof value === "string") return fromDbText(value);
  return value as WrittenValue;
}
