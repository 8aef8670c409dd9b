// What `rondo migrate` does: creates and changes the tables of a store apart from a start, and moves a store from a SQLite
// file to PostgreSQL.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type MovedCount, type MoveProgress, moveStore } from "./move/move-store.ts";
import { MoveSource } from "./move/source.ts";
import { MoveTarget } from "./move/target.ts";
import { PostgresConnection } from "./postgres/connection.ts";
import { toStoreError } from "./postgres/faults.ts";
import { migrate, readSchemaState, type SchemaState } from "./postgres/schema.ts";
import { StoreError } from "./store-error.ts";

export interface MigrateOptions {
  /** The schema of the tables in PostgreSQL. Default: `rondo`. */
  readonly schema?: string | undefined;
}

/** The version of the tables before and after. */
export interface Migrated {
  readonly before: number;
  readonly after: number;
}

/** Creates or changes the tables of a PostgreSQL store, once, however many do it at the same time. */
export async function migratePostgres(
  url: string,
  { schema = "rondo" }: MigrateOptions = {},
): Promise<Migrated> {
  return withPostgres(url, schema, async (db) => {
    const { version: before } = await readSchemaState(db);
    const { version: after }: SchemaState = await migrate(db);
    return { before, after };
  });
}

export interface MoveToPostgresOptions extends MigrateOptions {
  /** The path of the SQLite file. */
  readonly from: string;
  /** The URL of the PostgreSQL database. */
  readonly to: string;
  /** What `from` is relative to. */
  readonly cwd: string;
  /** Stops the move after the current batch. */
  readonly signal: AbortSignal;
  /** Default: nothing. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/**
 * Moves everything that a SQLite store keeps to PostgreSQL, and compares both. Throws a `StoreError`: `in_use` if a server
 * has the file open or the database has data of its own. If interrupted, the same call goes on where it was.
 */
export async function moveToPostgres(options: MoveToPostgresOptions): Promise<readonly MovedCount[]> {
  const { from, to, cwd, signal, onProgress, schema = "rondo" } = options;
  const path = resolve(cwd, from);
  if (!existsSync(path))
    throw new StoreError("unavailable", `There is no file ${path} to move. Check the path after "sqlite:".`);
  using source = new MoveSource(path);
  return await withPostgres(to, schema, async (db) => {
    await migrate(db);
    return db.withClient((client) =>
      moveStore({
        source,
        target: new MoveTarget(client, db.schema),
        place: db.place,
        signal,
        ...(onProgress && { onProgress }),
      }),
    );
  });
}

async function withPostgres<T>(
  url: string,
  schema: string,
  use: (db: PostgresConnection) => Promise<T>,
): Promise<T> {
  const db = new PostgresConnection({ url, schema, connections: 2 });
  try {
    return await use(db);
  } catch (error) {
    throw toStoreError(error, db.place);
  } finally {
    await db.close().catch(() => {});
  }
}
