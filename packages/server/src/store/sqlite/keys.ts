// Idempotency keys: a repeated request finds the response of the first.

import type { KeyClaim } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";

/** How many expired keys are removed with each new one: they cannot pile up, and no request waits for long. */
const removedAtOnce = 20;

export function findKey(
  db: SqliteConnection,
  owner: string,
  key: string,
  nowMs: number,
): { responseId: string; fingerprint: string } | undefined {
  const [row] = db.all<{ id: string; fingerprint: string }>(
    `SELECT r.id, k.fingerprint FROM idempotency_keys k JOIN responses r ON r.key = k.response_key
      WHERE k.owner = ? AND k.key = ? AND k.until_ms > ?`,
    owner,
    key,
    nowMs,
  );
  return row && { responseId: row.id, fingerprint: row.fingerprint };
}

/** Keeps a key that is not in use. */
export function insertKey(
  db: SqliteConnection,
  owner: string,
  responseKey: number,
  { key, fingerprint, keepMs }: KeyClaim,
  nowMs: number,
): void {
  db.change(
    `DELETE FROM idempotency_keys WHERE (owner, key) IN
      (SELECT owner, key FROM idempotency_keys WHERE until_ms <= ? LIMIT ${removedAtOnce})`,
    nowMs,
  );
  db.change(
    `INSERT INTO idempotency_keys (owner, key, fingerprint, until_ms, response_key) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (owner, key) DO UPDATE SET fingerprint = excluded.fingerprint, until_ms = excluded.until_ms,
        response_key = excluded.response_key`,
    owner,
    key,
    fingerprint,
    nowMs + keepMs,
    responseKey,
  );
}
