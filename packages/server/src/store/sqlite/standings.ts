// Keeps in the rows of responses what crashes say about them, each in a transaction that the caller has begun.

import { afterCrash, type Culprit, type Standing } from "../standing.ts";
import type { Connection } from "./connection.ts";

export interface StandingRow {
  readonly key: number;
  readonly attempts: number;
  readonly suspicion: number;
  readonly is_apart: number;
}

export const standingColumns = "r.key, r.attempts, r.suspicion, r.is_apart";

/** Whether a response `r` that nobody works on is to be ended, and not run. */
export const isToEnd = "(r.is_background = 0 OR r.is_cancel_requested = 1)";

/** Whether a response `r` must work apart. One that is only to be cancelled does not work at all. */
export const isSuspect = `(NOT ${isToEnd}
  AND (r.suspicion > 0 OR r.worker IS NOT NULL))`;

/** The attempts of a response `r` after a crash, if there was one. */
export const blame = "r.attempts - (r.worker IS NOT NULL AND r.is_apart = 0)";

export function toStanding({ attempts, suspicion, is_apart: isApart }: StandingRow): Standing {
  return { attempts, suspicion, isApart: isApart === 1 };
}

export function setStanding(db: Connection, key: number, { attempts, suspicion, isApart }: Standing): void {
  db.change(
    "UPDATE responses SET attempts = ?, suspicion = ?, is_apart = ? WHERE key = ?",
    attempts,
    suspicion,
    Number(isApart),
    key,
  );
}

/** Changes the standing of a response, if this lease of it is held. Whether it is. */
export function changeStanding(
  db: Connection,
  { responseId, fence }: { responseId: string; fence: number },
  change: (standing: Standing) => Standing,
): boolean {
  const [row] = db.all<StandingRow>(
    `SELECT ${standingColumns} FROM responses r WHERE r.id = ? AND r.fence = ? AND r.worker IS NOT NULL`,
    responseId,
    fence,
  );
  if (row) setStanding(db, row.key, change(toStanding(row)));
  return row !== undefined;
}

/** Ends all leases: the one process that has this store was another one. `culprit` has ended it, if that is known. */
export function endLeases(db: Connection, culprit: string | undefined): void {
  const rows = db.all<StandingRow & { id: string; is_background: number }>(
    `SELECT ${standingColumns}, r.id, r.is_background FROM responses r
      WHERE r.status IN ('queued', 'in_progress') AND r.worker IS NOT NULL`,
  );
  const unknown = rows.some((row) => row.is_background === 0) ? "doubtful" : "unknown";
  for (const row of rows) {
    const other: Culprit = culprit === undefined ? unknown : "other";
    setStanding(db, row.key, afterCrash(toStanding(row), row.id === culprit ? "this" : other));
    db.change("UPDATE responses SET worker = NULL WHERE key = ?", row.key);
  }
}
