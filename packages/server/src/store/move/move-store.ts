// Moves a store from a SQLite file to PostgreSQL: copies all rows in batches, then compares both sides row by row. It can
// be interrupted at any moment and goes on where it was.

import { createHash } from "node:crypto";
import { StoreError } from "../store-error.ts";
import { type MovedRow, type MovedTable, type MovedValue, movedTables } from "./moved-tables.ts";
import type { MoveSource } from "./source.ts";
import type { MoveTarget } from "./target.ts";

export interface MoveProgress {
  readonly phase: "copy" | "compare";
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

export interface MoveOptions {
  readonly source: MoveSource;
  readonly target: MoveTarget;
  /** The target for messages, without a password. */
  readonly place: string;
  /** Stops after the current batch; the error is the signal's reason. */
  readonly signal: AbortSignal;
  /** Called after each batch. Default: nothing. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** What was moved, and compared: the hash is over the content of all rows, in their order. */
export interface MovedCount {
  readonly table: string;
  readonly rows: number;
  readonly sha256: string;
}

/** Throws a `StoreError` if the target has other data, or if both sides differ in the end. */
export async function moveStore(options: MoveOptions): Promise<readonly MovedCount[]> {
  const { target, signal } = options;
  await begin(options);
  for (const table of movedTables) await copy(table, options);
  const counts: MovedCount[] = [];
  for (const table of movedTables) counts.push(await compare(table, options));
  signal.throwIfAborted();
  await target.finish();
  return counts;
}

/** Finds an earlier move of the same store, or begins one in an empty target. */
async function begin({ source, target, place }: MoveOptions): Promise<void> {
  const identity = source.identity();
  const earlier = await target.findMove();
  if (earlier?.isFinished)
    throw new StoreError(
      "in_use",
      `A store was moved to ${place} before, and servers may have used it since. To move it again, name an empty database.`,
    );
  if (earlier && earlier.source !== identity)
    throw new StoreError(
      "in_use",
      `The move of another store to ${place} was begun and not finished. Finish that one, or name an empty database.`,
    );
  if (earlier) return;
  const filled = await target.filledTables(movedTables.map(({ name }) => name));
  if (filled.length > 0)
    throw new StoreError(
      "in_use",
      `The database ${place} has data of its own (${filled.join(", ")}), which a move would mix up with that of ${source.path}. Name an empty database; one on which a server was started is not empty.`,
    );
  await target.begin(identity);
}

async function copy(table: MovedTable, { source, target, signal, onProgress }: MoveOptions): Promise<void> {
  const total = source.count(table);
  let { after, rows, isDone } = await target.progress(table);
  const orderIndexes = table.order.map((name) => Object.keys(table.columns).indexOf(name));
  while (!isDone) {
    signal.throwIfAborted();
    const batch = source.read(table, after);
    const last = batch.rows.at(-1);
    after = last ? orderIndexes.map((index): MovedValue => last[index] ?? null) : after;
    rows += batch.rows.length;
    isDone = !batch.isFull;
    await target.write(table, batch.rows, { after, rows, isDone });
    onProgress?.({ phase: "copy", table: table.name, rows, total });
  }
}

const compareStep = 10_000;

/** Reads both sides once more. Throws a `StoreError` at the first difference. */
async function compare(table: MovedTable, options: MoveOptions): Promise<MovedCount> {
  const { source, target, signal, place, onProgress } = options;
  const total = source.count(table);
  const hash = createHash("sha256");
  const theirs = target.rows(table);
  let count = 0;
  for (const row of sourceRows(table, source)) {
    const line = JSON.stringify(row);
    const { value: other } = await theirs.next();
    if (other === undefined || JSON.stringify(other) !== line)
      throw differs(table, count, place, source.path);
    hash.update(line).update("\n");
    count += 1;
    if (count % compareStep !== 0) continue;
    signal.throwIfAborted();
    onProgress?.({ phase: "compare", table: table.name, rows: count, total });
  }
  if (!(await theirs.next()).done) throw differs(table, count, place, source.path);
  onProgress?.({ phase: "compare", table: table.name, rows: count, total });
  return { table: table.name, rows: count, sha256: hash.digest("hex") };
}

function* sourceRows(table: MovedTable, source: MoveSource): Generator<MovedRow> {
  const orderIndexes = table.order.map((name) => Object.keys(table.columns).indexOf(name));
  let after: MovedValue[] | undefined;
  while (true) {
    const { rows, isFull } = source.read(table, after);
    yield* rows;
    const last = rows.at(-1);
    if (!last || !isFull) return;
    after = orderIndexes.map((index) => last[index] ?? null);
  }
}

function differs({ name }: MovedTable, row: number, place: string, path: string): StoreError {
  return new StoreError(
    "unavailable",
    `After the move, row ${row + 1} of ${name} in ${place} is not what ${path} has. The file was probably used between two parts of the move. Begin again with an empty database; the file is unchanged.`,
  );
}
