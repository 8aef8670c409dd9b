// The queue in PostgreSQL: who runs a response is said in its own row, by the fence, and nowhere else.

import type { ClaimOptions, Job, Lease, RunQueue } from "../run-queue.ts";
import type { PostgresConnection } from "./connection.ts";
import type { Call, GroupWriter } from "./group-writer.ts";
import { type ResponseRow, toResponse } from "./rows.ts";
import { fromDbText, toDbText } from "./text.ts";

interface ClaimedRow extends ResponseRow {
  readonly fence: number;
  readonly attempts: number;
  readonly suspicion: number;
}

export interface QueueParts {
  readonly db: PostgresConnection;
  readonly writer: GroupWriter;
  /** Replaces the database's clock. */
  readonly now: (() => number) | undefined;
  /** The key under which other nodes watch this one. */
  readonly node: () => number | undefined;
  /** Whether the others may take this node for dead. */
  readonly isCutOff: () => boolean;
}

const patienceMs = 3000;

export class PostgresQueue implements RunQueue {
  readonly #parts: QueueParts;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  async claim(
    worker: string,
    { leaseMs, limit, id, suspects, onlyToEnd }: ClaimOptions,
  ): Promise<readonly Job[]> {
    // The run would be stopped at once. Whoever waits for jobs is woken when the others know this node again.
    if (this.isCutOff()) return [];
    const call: Call = {
      call: "claim",
      worker,
      node: this.#parts.node() ?? null,
      leaseMs,
      limit,
      ...(id !== undefined && { id: toDbText(id) }),
      ...(suspects && { suspects }),
      onlyToEnd: onlyToEnd === true,
    };
    // A fence that the database forgets in a crash would be given to somebody else once more.
    const rows = await this.#write<ClaimedRow[]>(call, { isDurable: true });
    return rows.map((row) => ({
      responseId: fromDbText(row.id),
      fence: row.fence,
      response: toResponse(row),
      attempts: row.attempts,
      suspicion: row.suspicion,
    }));
  }

  async renew(leases: readonly Lease[], leaseMs: number) {
    if (leases.length === 0) return [];
    const held = await this.#write<{ responseId: string; isCancelRequested: boolean }[]>({
      call: "renew",
      leases: leases.map(({ responseId, fence }) => ({ responseId: toDbText(responseId), fence })),
      node: this.#parts.node() ?? null,
      leaseMs,
    });
    return held.map(({ responseId, isCancelRequested }) => ({
      responseId: fromDbText(responseId),
      isCancelRequested,
    }));
  }

  async release({ responseId, fence }: Lease, { forgetsAttempt = false } = {}): Promise<void> {
    await this.#write({ call: "release", id: toDbText(responseId), fence, forgetsAttempt });
  }

  async trust({ responseId, fence }: Lease, { hasProgressed }: { hasProgressed: boolean }): Promise<void> {
    await this.#write({ call: "trust", id: toDbText(responseId), fence, hasProgressed });
  }

  isCutOff(): boolean {
    return this.#parts.isCutOff();
  }

  async nextExpiryMs(): Promise<number | undefined> {
    const { db, now } = this.#parts;
    const [row] = await db.read<{ left_ms: number | null }>(
      `WITH clock AS (
         SELECT coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now_ms)
       SELECT least(min(r.lease_until_ms) FILTER (WHERE r.worker IS NOT NULL),
           min(r.not_before_ms) FILTER (WHERE r.worker IS NULL AND r.not_before_ms > now_ms)) - min(now_ms) AS left_ms
         FROM ${db.schema}.responses r, clock WHERE r.status IN ('queued', 'in_progress')`,
      [now?.() ?? null],
    );
    return row?.left_ms ?? undefined;
  }

  async count(owner?: string): Promise<{ queued: number; running: number }> {
    const { db } = this.#parts;
    const [row] = await db.read<{ queued: number; running: number }>(
      `SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
          count(*) FILTER (WHERE status = 'in_progress') AS running
        FROM ${db.schema}.responses WHERE status IN ('queued', 'in_progress') AND is_background
          ${owner === undefined ? "" : "AND owner = $1"}`,
      owner === undefined ? [] : [toDbText(owner)],
    );
    return { queued: row?.queued ?? 0, running: row?.running ?? 0 };
  }

  /** How long a lease is held need not survive the end of the database's machine; who holds it must. */
  #write<T>(call: Call, { isDurable = false } = {}): Promise<T> {
    return this.#parts.writer.write<T>(call, { isDurable, patienceMs });
  }
}
