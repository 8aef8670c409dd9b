// Groups writes: while one transaction is on its way, the next calls are collected, and share the one that follows. So
// a node has one transaction in flight, of one round trip, and its calls are done in the order in which they were made.

import { randomUUID } from "node:crypto";
import { storeClosed } from "../rules.ts";
import { StoreError } from "../store-error.ts";
import type { PostgresConnection } from "./connection.ts";
import { isConflict, isOutage, toStoreError } from "./faults.ts";

/** A call of the database's function `write_v2`, whose branches read the other fields. */
export interface Call {
  readonly call: string;
  readonly [field: string]: unknown;
}

export interface WriteOptions {
  /** Whether it must survive the end of the database's machine. */
  readonly isDurable: boolean;
  /** How long it is tried while the database is away. */
  readonly patienceMs: number;
}

interface PendingWrite extends WriteOptions {
  readonly call: Call;
  readonly token: string;
  readonly untilMs: number;
  /** Whether it was sent before, and nobody knows what became of it. */
  isRetry: boolean;
  /** How often it met another node's write, and did nothing. */
  conflicts: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How many calls, and how much JSON, one transaction has at most. */
const maxCalls = 200;
const maxChars = 4_000_000;
const firstPauseMs = 50;
const longestPauseMs = 1000;
const maxConflicts = 3;

export class GroupWriter {
  readonly #db: PostgresConnection;
  readonly #now: (() => number) | undefined;
  readonly #prefix = randomUUID();
  #count = 0;
  #pending: PendingWrite[] = [];
  #working: Promise<void> | undefined;
  #isClosed = false;

  /** `now` replaces the database's clock. */
  constructor(db: PostgresConnection, now: (() => number) | undefined) {
    this.#db = db;
    this.#now = now;
  }

  /** Does `call`, and returns what the database answers. */
  write<T>(call: Call, { isDurable, patienceMs }: WriteOptions): Promise<T> {
    if (this.#isClosed) return Promise.reject(storeClosed());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#count += 1;
    this.#pending.push({
      call,
      token: `${this.#prefix}:${this.#count}`,
      isDurable,
      patienceMs,
      untilMs: performance.now() + patienceMs,
      isRetry: false,
      conflicts: 0,
      resolve: resolve as PendingWrite["resolve"],
      reject,
    });
    // In the next round of the event loop, so that all calls of this one share a transaction.
    this.#working ??= new Promise((done) => setImmediate(done)).then(() => this.#work());
    return promise;
  }

  /** Does what is pending, and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    try {
      while (this.#pending.length > 0) await this.#writeGroup(this.#takeGroup());
    } finally {
      this.#working = undefined;
    }
  }

  #takeGroup(): PendingWrite[] {
    let chars = 0;
    let count = 0;
    for (const { call } of this.#pending) {
      chars += sizeOf(call);
      if (count > 0 && (chars > maxChars || count >= maxCalls)) break;
      count += 1;
    }
    return this.#pending.splice(0, count);
  }

  /** Tries a group until it is done, or none of it may wait any longer. */
  async #writeGroup(group: readonly PendingWrite[]): Promise<void> {
    let left = group;
    for (let pauseMs = firstPauseMs; left.length > 0; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const results = await this.#send(left);
        for (const [index, { resolve }] of left.entries()) resolve(results[index]);
        return;
      } catch (error) {
        if (isConflict(error) || !isOutage(error)) return this.#writeEach(left, error);
        for (const write of left) write.isRetry = true;
        left = this.#dropImpatient(left, error);
        // Those that wait behind this group must not wait for its patience.
        this.#pending = this.#dropImpatient(this.#pending, error);
        if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  /** One of a group has failed by itself: each is done alone. */
  async #writeEach(group: readonly PendingWrite[], error: unknown): Promise<void> {
    const [first, ...others] = group;
    if (first && others.length > 0) {
      for (const write of group) await this.#writeGroup([write]);
      return;
    }
    if (!first) return;
    // Another node has inserted the same at the same moment, or two waited for each other: now it can be seen.
    if (isConflict(error) && first.conflicts < maxConflicts) {
      first.conflicts += 1;
      await this.#writeGroup([first]);
      return;
    }
    first.reject(toStoreError(error, this.#db.place));
  }

  #dropImpatient(group: readonly PendingWrite[], error: unknown): PendingWrite[] {
    const nowMs = performance.now();
    const isPatient = ({ untilMs }: PendingWrite) => untilMs > nowMs && !this.#isClosed;
    for (const write of group) if (!isPatient(write)) write.reject(toStoreError(error, this.#db.place));
    return group.filter(isPatient);
  }

  async #send(group: readonly PendingWrite[]): Promise<unknown[]> {
    const calls = group.map(({ call, token, isRetry }) => ({ ...call, token, isRetry }));
    const [row] = await this.#db.query<{ results: unknown[] }>(
      `SELECT ${this.#db.schema}.write_v2($1::jsonb, $2, $3) AS results`,
      [JSON.stringify(calls), group.some(({ isDurable }) => isDurable), this.#now?.() ?? null],
    );
    if (!row) throw new StoreError("unavailable", "The database has answered a write with nothing.");
    return row.results;
  }
}

/** About how much JSON a call is: only long texts count. */
function sizeOf(call: Call): number {
  let chars = 200;
  for (const value of Object.values(call)) {
    if (typeof value === "string") chars += value.length;
    else if (Array.isArray(value))
      for (const each of value as readonly unknown[])
        chars += typeof each === "string" ? each.length : ((each as { data?: string }).data?.length ?? 100);
  }
  return chars;
}
