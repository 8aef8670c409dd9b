// The versions of the schema, as migrations from one to the next. A released migration never changes: add a new one.
// Each must leave what older nodes use, which go on while it is applied: add columns, tables and functions; what is no
// longer used goes away a version later.

import type pg from "pg";
import { StoreError } from "../store-error.ts";
import { type PostgresConnection, schemaLock } from "./connection.ts";
import { listTables } from "./sql/list-tables.ts";
import { functions, listedAndTraced } from "./sql/run-functions.ts";
import { tables } from "./sql/tables.ts";

type Migration = (schema: string) => string;

const migrations: readonly Migration[] = [
  (s) => `${tables(s)}\n${functions(s)}`,
  (s) => `${listTables(s)}\n${listedAndTraced(s)}`,
];

/** The version that this program knows and needs. */
const newestVersion = migrations.length;

export interface SchemaState {
  /** The version of the tables; 0 if there are none. */
  readonly version: number;
  /** The version that this program needs. */
  readonly newest: number;
}

/** The state of the schema. Changes nothing. */
export async function readSchemaState(db: PostgresConnection): Promise<SchemaState> {
  return { version: await readVersion(db, (sql, values) => db.query(sql, values)), newest: newestVersion };
}

/**
 * Migrates to the newest version, once, however many nodes start at the same time. Throws a `StoreError`
 * (`unknown_version`) if the schema is newer than this program.
 */
export async function migrate(db: PostgresConnection): Promise<SchemaState> {
  const state = await readSchemaState(db);
  checkVersion(state, db.place);
  if (state.version === newestVersion) return state;
  await db.withClient((client) => migrateWith(client, db));
  return { version: newestVersion, newest: newestVersion };
}

/** Throws a `StoreError` if the tables are not those of this program. */
export function checkVersion({ version }: SchemaState, place: string): void {
  if (version <= newestVersion) return;
  throw new StoreError(
    "unknown_version",
    `The store ${place} has the version ${version}, but this server knows versions up to ${newestVersion}. A newer server has migrated it: use that one, or name another database or schema.`,
  );
}

/** Throws a `StoreError` if there is something to migrate. */
export function checkMigrated({ version }: SchemaState, place: string): void {
  if (version >= newestVersion) return;
  throw new StoreError(
    "unknown_version",
    `The store ${place} has the version ${version}, but this server needs ${newestVersion}, and was told not to migrate it. Run "rondo migrate" first.`,
  );
}

async function migrateWith(client: pg.PoolClient, db: PostgresConnection): Promise<void> {
  await client.query("BEGIN");
  try {
    // Held until the end of the transaction; whoever waited for it finds the work done.
    await client.query("SELECT pg_advisory_xact_lock($1, $2)", [db.lockClass, schemaLock]);
    const version = await readVersion(db, async (sql, values) => (await client.query(sql, values)).rows);
    checkVersion({ version, newest: newestVersion }, db.place);
    if (version === 0) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${db.schema}`);
      await client.query(
        `CREATE TABLE ${db.schema}.schema_versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
      );
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      await client.query(migration(db.schema));
      await client.query(`INSERT INTO ${db.schema}.schema_versions (version) VALUES ($1)`, [index + 1]);
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function readVersion(
  db: PostgresConnection,
  query: (sql: string, values: unknown[]) => Promise<object[]>,
): Promise<number> {
  // Not `to_regclass`: while one waits for the lock, its session may remember that there was no such table.
  const [found] = (await query(
    `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'schema_versions') AS is_there`,
    [db.options.schema],
  )) as { is_there: boolean }[];
  if (!found?.is_there) return 0;
  const [row] = (await query(`SELECT max(version) AS version FROM ${db.schema}.schema_versions`, [])) as {
    version: number | null;
  }[];
  return row?.version ?? 0;
}
