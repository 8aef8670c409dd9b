// Opens a store in PostgreSQL.

import type { Store } from "../store.ts";
import { PostgresConnection } from "./connection.ts";
import { toStoreError } from "./faults.ts";
import { GroupWriter } from "./group-writer.ts";
import { checkMoved } from "./moved.ts";
import { PostgresStore } from "./postgres-store.ts";
import { checkMigrated, checkVersion, migrate, readSchemaState } from "./schema.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `sslmode`. */
  readonly url: string;
  /** The schema of the tables; pg-boss has its own beside it. Default: `rondo`. */
  readonly schema?: string | undefined;
  /** The most connections of this process; one more is for news. Default: 10. */
  readonly connections?: number | undefined;
  /** Whether the tables are created and migrated. Default: true; otherwise they must have the newest version. */
  readonly migrate?: boolean | undefined;
  /** The clock of leases and keys, in milliseconds, for tests. Default: that of the database. */
  readonly now?: (() => number) | undefined;
  /** Receives what operators should know, such as that news have to be polled. Default: nobody. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Opens a store in PostgreSQL, and creates or migrates its tables. Throws a `StoreError`: `unknown_version` when a newer
 * server has migrated them, `unavailable` when the database cannot be used.
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema = "rondo", connections = 10, migrate: migrates = true, now } = options;
  const db = new PostgresConnection({ url, schema, connections });
  try {
    if (migrates) await migrate(db);
    else {
      const state = await readSchemaState(db);
      checkVersion(state, db.place);
      checkMigrated(state, db.place);
    }
    await checkMoved(db);
  } catch (error) {
    await db.close().catch(() => {});
    throw toStoreError(error, db.place);
  }
  return new PostgresStore({ db, writer: new GroupWriter(db, now), now });
}
