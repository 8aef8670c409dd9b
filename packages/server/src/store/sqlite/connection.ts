// A connection to the database with our settings, which caches its prepared statements.

import { closeSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { storeClosed } from "../rules.ts";
import { StoreError } from "../store-error.ts";
import { toStoreError } from "./faults.ts";
import { migrate } from "./schema.ts";

// Waiting for a lock blocks the whole process.
const lockWaitMs = 250;

// 16 MB, four times SQLite's default: a checkpoint costs a flush of the disk, and copies a page only once, however
// often it was written.
const checkpointPages = 4000;

export class SqliteConnection {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** Opens the file at `path`, as `prepareFile` returned it. Throws SQLite's errors and `StoreError`s. */
  constructor(path: string) {
    this.path = path;
    this.database = new DatabaseSync(path, { timeout: lockWaitMs });
    try {
      this.database.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = ${checkpointPages}`);
      migrate(this.database, path);
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** Runs `run`. Throws a `StoreError` if the connection is closed, or if SQLite fails. */
  read<T>(run: () => T): T {
    if (!this.database.isOpen) throw storeClosed();
    try {
      return run();
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** The same row by row: the caller may leave early. */
  iterate<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepared(sql).iterate(...values) as Iterable<Row>;
  }

  /** Returns the key of the new row. */
  insert(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid);
  }

  /** Returns how many rows changed. */
  change(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Runs `run` in a transaction of its own. */
  inTransaction(run: () => void): void {
    this.database.exec("BEGIN IMMEDIATE");
    try {
      run();
      this.database.exec("COMMIT");
    } catch (error) {
      if (this.database.isTransaction) this.database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Creates the file and its folders if they are missing. Returns its real path: one database, one lock. */
export function prepareFile(path: string): string {
  const file = resolve(path);
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Conversations are private: a new file is for this user only, and SQLite gives its other files the same rights.
    closeSync(openSync(file, "a", 0o600));
    return realpathSync(file);
  } catch (error) {
    throw new StoreError(
      "unavailable",
      `The store ${file} cannot be opened for writing. Check the path and the rights of the file and its folder (${(error as Error).message}).`,
      { cause: error },
    );
  }
}
