// The queue in SQLite: its jobs are the responses that have not ended. Each change is one write of the group writer.

import type { ClaimOptions, Job, Lease, RunQueue } from "../run-queue.ts";
import {
  afterCrash,
  type Culprit,
  type Standing,
  whenReleased,
  whenStarted,
  whenTrusted,
} from "../standing.ts";
import type { SqliteConnection } from "./connection.ts";
import type { GroupWriter } from "./group-writer.ts";
import { type ResponseRow, responseColumns, responseTables, toResponse } from "./rows.ts";

interface StandingRow {
  readonly key: number;
  readonly attempts: number;
  readonly suspicion: number;
  readonly is_apart: number;
}

const standingColumns = "r.key, r.attempts, r.suspicion, r.is_apart";

const isActive = "r.status IN ('queued', 'in_progress')";

/** Whether a response `r` that is free to claim is to be ended, and not run. */
const isToEnd = "(r.is_background = 0 OR r.is_cancel_requested = 1)";

/** Whether a response `r` must run alone. One that is only to be cancelled does not run at all. */
const isSuspect = `(NOT ${isToEnd}
  AND (r.suspicion > 0 OR r.worker IS NOT NULL))`;

/** The attempts of a response `r` after a crash, if there was one. */
const blame = "r.attempts - (r.worker IS NOT NULL AND r.is_apart = 0)";

/** No older response of the same conversation is left, or `r` is only to be cancelled. */
const isNextInConversation = `(r.conversation_id IS NULL OR r.is_cancel_requested = 1 OR NOT EXISTS (
  SELECT 1 FROM responses o WHERE o.owner = r.owner AND o.conversation_id = r.conversation_id
    AND o.status IN ('queued', 'in_progress') AND o.key < r.key))`;

export class SqliteQueue implements RunQueue {
  readonly #db: SqliteConnection;
  readonly #writer: GroupWriter;
  readonly #now: () => number;

  constructor(db: SqliteConnection, writer: GroupWriter, now: () => number) {
    this.#db = db;
    this.#writer = writer;
    this.#now = now;
  }

  claim(worker: string, options: ClaimOptions): Promise<readonly Job[]> {
    const { leaseMs, limit, id, suspects, onlyToEnd } = options;
    const only = id === undefined ? { sql: "", values: [] } : { sql: "AND r.id = ?", values: [id] };
    const kind = { none: `AND NOT ${isSuspect}`, only: `AND ${isSuspect}` };
    return this.#write(() => {
      const now = this.#now();
      const rows = this.#db.all<ResponseRow & StandingRow & { is_dead: number; is_suspect: number }>(
        `SELECT ${responseColumns}, ${standingColumns}, r.worker IS NOT NULL AS is_dead, ${isSuspect} AS is_suspect
          FROM ${responseTables}
          WHERE ${isActive} AND (r.worker IS NULL OR r.lease_until_ms <= ?)
          AND ${isNextInConversation} ${only.sql} ${suspects === undefined ? "" : kind[suspects]}
          ${onlyToEnd ? `AND ${isToEnd}` : ""}
          ORDER BY ${suspects === "only" ? `${blame}, ` : ""}r.created_at_ms, r.id LIMIT ?`,
        now,
        ...only.values,
        limit,
      );
      return rows.map((row) => {
        const before = toStanding(row);
        const standing = row.is_dead === 1 ? afterCrash(before, "unknown") : before;
        const { attempts, suspicion, isApart } = whenStarted(standing, row.is_suspect === 1);
        const [leased] = this.#db.all<{ fence: number }>(
          `UPDATE responses SET attempts = ?, suspicion = ?, is_apart = ?,
              worker = ?, lease_until_ms = ?, fence = fence + 1
            WHERE key = ? RETURNING fence`,
          attempts,
          suspicion,
          Number(isApart),
          worker,
          now + leaseMs,
          row.key,
        );
        return {
          responseId: row.id,
          fence: leased?.fence ?? 0,
          response: toResponse(row),
          attempts,
          suspicion,
        };
      });
    });
  }

  renew(leases: readonly Lease[], leaseMs: number) {
    const copies = leases.map((lease) => ({ ...lease }));
    return this.#write(() =>
      copies.flatMap(({ responseId, fence }) => {
        const [row] = this.#db.all<{ is_cancel_requested: number }>(
          `UPDATE responses SET lease_until_ms = ? WHERE id = ? AND fence = ? AND worker IS NOT NULL
            RETURNING is_cancel_requested`,
          this.#now() + leaseMs,
          responseId,
          fence,
        );
        return row ? [{ responseId, isCancelRequested: row.is_cancel_requested === 1 }] : [];
      }),
    );
  }

  release(lease: Lease, { forgetsAttempt = false } = {}): Promise<void> {
    return this.#changeStanding(lease, (standing) => whenReleased(standing, forgetsAttempt), {
      isReleased: true,
    });
  }

  trust(lease: Lease, { hasProgressed }: { hasProgressed: boolean }): Promise<void> {
    return this.#changeStanding(lease, (standing) => whenTrusted(standing, hasProgressed));
  }

  async nextExpiryMs(): Promise<number | undefined> {
    return this.#db.read(() => {
      const [row] = this.#db.all<{ first: number | null }>(
        `SELECT min(r.lease_until_ms) AS first FROM responses r WHERE ${isActive} AND r.worker IS NOT NULL`,
      );
      return row?.first == null ? undefined : row.first - this.#now();
    });
  }

  /** Walks through the index of what has not ended, of one owner or of all, however much is stored. */
  async count(owner?: string): Promise<{ queued: number; running: number }> {
    return this.#db.read(() => {
      const [row] = this.#db.all<{ queued: number; running: number }>(
        `SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
            count(*) FILTER (WHERE status = 'in_progress') AS running
          FROM responses r WHERE ${isActive} AND is_background = 1 ${owner === undefined ? "" : "AND owner = ?"}`,
        ...(owner === undefined ? [] : [owner]),
      );
      return { queued: row?.queued ?? 0, running: row?.running ?? 0 };
    });
  }

  /** Changes the standing of a response, if this lease of it is held. */
  #changeStanding(
    { responseId, fence }: Lease,
    change: (standing: Standing) => Standing,
    { isReleased = false } = {},
  ): Promise<void> {
    return this.#write(() => {
      const [row] = this.#db.all<StandingRow>(
        `SELECT ${standingColumns} FROM responses r WHERE r.id = ? AND r.fence = ? AND r.worker IS NOT NULL`,
        responseId,
        fence,
      );
      if (!row) return;
      setStanding(this.#db, row.key, change(toStanding(row)));
      if (isReleased) this.#db.change("UPDATE responses SET worker = NULL WHERE key = ?", row.key);
    });
  }

  /** A lease need not survive a power cut: opening the file ends them all. */
  #write<T>(run: () => T): Promise<T> {
    return this.#writer.write(run, { isDurable: false });
  }
}

/** Ends all leases, as their process is gone. `culprit`: the response that ended it, if that is known. */
export function endLeases(db: SqliteConnection, culprit: string | undefined): void {
  const rows = db.all<StandingRow & { id: string; is_background: number }>(
    `SELECT ${standingColumns}, r.id, r.is_background FROM responses r
      WHERE ${isActive} AND r.worker IS NOT NULL`,
  );
  const unknown = rows.some((row) => row.is_background === 0) ? "doubtful" : "unknown";
  for (const row of rows) {
    const other: Culprit = culprit === undefined ? unknown : "other";
    setStanding(db, row.key, afterCrash(toStanding(row), row.id === culprit ? "this" : other));
    db.change("UPDATE responses SET worker = NULL WHERE key = ?", row.key);
  }
}

function toStanding({ attempts, suspicion, is_apart: isApart }: StandingRow): Standing {
  return { attempts, suspicion, isApart: isApart === 1 };
}

function setStanding(db: SqliteConnection, key: number, { attempts, suspicion, isApart }: Standing): void {
  db.change(
    "UPDATE responses SET attempts = ?, suspicion = ?, is_apart = ? WHERE key = ?",
    attempts,
    suspicion,
    Number(isApart),
    key,
  );
}
