// Gathers the writes of one tick of the event loop into one transaction: the cost of a commit is shared, and
// nobody is told that a write is done before the commit is.

import type { DatabaseSync } from "node:sqlite";
import { storeClosed } from "../rules.ts";
import { StoreError } from "../store-error.ts";
import { isFault, toStoreError } from "./faults.ts";

interface Job {
  readonly isDurable: boolean;
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupWriter {
  readonly #database: DatabaseSync;
  readonly #path: string;
  #jobs: Job[] = [];
  #timer: NodeJS.Immediate | undefined;
  #isDurable: boolean | undefined;
  #isClosed = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /**
   * Runs `run` in the next transaction. It must refuse (throw a `StoreError`) before it writes anything: a
   * refusal does not undo the others. It may run again, if another write of its group has broken.
   */
  write<T>(run: () => T, { isDurable }: { isDurable: boolean }): Promise<T> {
    if (this.#isClosed) return Promise.reject(storeClosed());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#jobs.push({ run, isDurable, resolve: resolve as Job["resolve"], reject });
    this.#timer ??= setImmediate(() => this.#flush());
    return promise;
  }

  /** Writes what is waiting, and takes no more. */
  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#timer);
    this.#flush();
  }

  #flush(): void {
    this.#timer = undefined;
    let jobs: readonly Job[] = this.#jobs;
    this.#jobs = [];
    while (jobs.length > 0) jobs = this.#commit(jobs);
  }

  /** One try. Gives the jobs that are to be tried again: those beside one that broke by itself. */
  #commit(jobs: readonly Job[]): readonly Job[] {
    const settle: (() => void)[] = [];
    let current: Job | undefined;
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#setDurable(jobs.some((job) => job.isDurable));
      this.#database.exec("BEGIN IMMEDIATE");
      for (const job of jobs) {
        current = job;
        settle.push(runJob(job));
      }
      current = undefined;
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#rollBack();
      const isAlone = current !== undefined && !isFault(error);
      for (const job of isAlone ? [current] : jobs) job?.reject(toStoreError(error, this.#path));
      return isAlone ? jobs.filter((job) => job !== current) : [];
    }
    for (const tell of settle) tell();
    return [];
  }

  #rollBack(): void {
    try {
      // After some faults SQLite has rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } catch {
      // The fault that led here is the one to tell. The next try starts with the rest of this one.
    }
  }

  #setDurable(isDurable: boolean): void {
    if (this.#isDurable === isDurable) return;
    this.#database.exec(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
    this.#isDurable = isDurable;
  }
}

/** Runs a job and gives what tells its caller, once the commit is done. */
function runJob(job: Job): () => void {
  try {
    const value = job.run();
    return () => job.resolve(value);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return () => job.reject(error);
  }
}
