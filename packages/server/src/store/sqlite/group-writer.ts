// Groups the writes of one tick of the event loop into one transaction, so that they share the cost of a commit. A write
// is acknowledged after the commit. Pieces of text can wait a moment for those of other runs.

import type { DatabaseSync } from "node:sqlite";
import { storeClosed } from "../rules.ts";
import { StoreError } from "../store-error.ts";
import { isFault, toStoreError } from "./faults.ts";
import { RefusedWrite } from "./refused-write.ts";

interface PendingWrite {
  readonly isDurable: boolean;
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriteOptions {
  readonly isDurable: boolean;
  /** Whether it may be committed together with what comes within the next milliseconds. Default: false. */
  readonly mayWait?: boolean;
}

/** How long such writes wait. Nobody sees a token so much later, and the commits of many runs become one. */
const waitMs = 2;

export class GroupWriter {
  readonly #database: DatabaseSync;
  readonly #path: string;
  #pending: PendingWrite[] = [];
  #timer: NodeJS.Immediate | undefined;
  #waiting: NodeJS.Timeout | undefined;
  #isDurable: boolean | undefined;
  #isClosed = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /**
   * Runs `run` in the next transaction. It must throw `StoreError`s before it writes anything: they do not roll back the
   * other writes. A `RefusedWrite` does, and these are retried: `run` may run more than once.
   */
  write<T>(run: () => T, { isDurable, mayWait = false }: WriteOptions): Promise<T> {
    if (this.#isClosed) return Promise.reject(storeClosed());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.push({ run, isDurable, resolve: resolve as PendingWrite["resolve"], reject });
    if (mayWait) this.#waiting ??= setTimeout(this.#flush, waitMs);
    else this.#timer ??= setImmediate(this.#flush);
    return promise;
  }

  /** Writes what is pending, and accepts no more. */
  close(): void {
    this.#isClosed = true;
    this.#flush();
  }

  readonly #flush = (): void => {
    clearImmediate(this.#timer);
    clearTimeout(this.#waiting);
    this.#timer = undefined;
    this.#waiting = undefined;
    let writes: readonly PendingWrite[] = this.#pending;
    this.#pending = [];
    while (writes.length > 0) writes = this.#commit(writes);
  };

  /** Tries once. Returns the writes to retry: all but one that failed by itself. */
  #commit(writes: readonly PendingWrite[]): readonly PendingWrite[] {
    const settle: (() => void)[] = [];
    let current: PendingWrite | undefined;
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#setDurable(writes.some((write) => write.isDurable));
      this.#database.exec("BEGIN IMMEDIATE");
      for (const write of writes) {
        current = write;
        settle.push(runWrite(write));
      }
      current = undefined;
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#rollBack();
      const isAlone = current !== undefined && !isFault(error);
      const reason = error instanceof RefusedWrite ? error.reason : toStoreError(error, this.#path);
      for (const write of isAlone ? [current] : writes) write?.reject(reason);
      return isAlone ? writes.filter((write) => write !== current) : [];
    }
    for (const report of settle) report();
    return [];
  }

  #rollBack(): void {
    try {
      // After some errors, SQLite has rolled back already.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } catch {
      // The first error is the one to report. The next try rolls back again.
    }
  }

  #setDurable(isDurable: boolean): void {
    if (this.#isDurable === isDurable) return;
    this.#database.exec(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
    this.#isDurable = isDurable;
  }
}

/** Runs a write. Returns the function that reports the outcome to its caller after the commit. */
function runWrite(write: PendingWrite): () => void {
  try {
    const value = write.run();
    return () => write.resolve(value);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return () => write.reject(error);
  }
}
