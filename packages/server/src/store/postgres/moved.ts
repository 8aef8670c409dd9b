// Refuses a database that a store is being moved to (`rondo migrate --from`): a part of it would look like the whole.

import { StoreError } from "../store-error.ts";
import type { PostgresConnection } from "./connection.ts";

/** Throws a `StoreError` (`in_use`) if a move was begun and not finished. */
export async function checkMoved(db: PostgresConnection): Promise<void> {
  const [found] = await db.query<{ is_there: boolean }>("SELECT to_regclass($1) IS NOT NULL AS is_there", [
    `${db.schema}.moves`,
  ]);
  if (!found?.is_there) return;
  const [unfinished] = await db.query(`SELECT 1 FROM ${db.schema}.moves WHERE finished_at IS NULL`);
  if (unfinished === undefined) return;
  throw new StoreError(
    "in_use",
    `The move of a store to ${db.place} is not finished. Finish it with the same "rondo migrate --from … --to …", or name another database.`,
  );
}
