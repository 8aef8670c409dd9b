// Checks a store in PostgreSQL from outside: what `rondo doctor --store postgres://…` reports. Changes nothing but the
// delivery of one notification to itself.

import pg from "pg";
import { storeLabel } from "../store-label.ts";
import { PostgresConnection } from "./connection.ts";
import { toStoreError } from "./faults.ts";
import { inspectQueue } from "./inspect-queue.ts";
import { readSchemaState } from "./schema.ts";

export interface PostgresFinding {
  readonly check: "connection" | "version" | "rights" | "listen" | "tables" | "clock" | "queue" | "pool";
  readonly status: "ok" | "warning" | "failed";
  /** What was found, as one word for programs. */
  readonly code: string;
  readonly message: string;
  readonly advice?: string;
}

export interface InspectOptions {
  readonly schema: string;
  /** Of each process. */
  readonly connections: number;
}

/** The oldest version that pg-boss supports. */
const oldestVersion = 13;
const listenMs = 2000;
/** Leases are timed by the database: a node's own clock only dates what it makes. */
const maxSkewMs = 2000;

/** Checks the database of a URL. Never throws: a database that cannot be reached is a finding. */
export async function inspectPostgres(
  url: string,
  { schema, connections }: InspectOptions,
): Promise<PostgresFinding[]> {
  const db = new PostgresConnection({ url, schema, connections: 2 });
  const findings: PostgresFinding[] = [];
  try {
    findings.push(...(await inspectServer(db, url)));
    if (findings.some(({ status }) => status === "failed")) return findings;
    const tables = await inspectTables(db);
    findings.push(await inspectRights(db), await inspectListen(db), await inspectClock(db), tables);
    findings.push(await inspectPool(db, connections));
    if (tables.status === "ok" && tables.code !== "no_tables") findings.push(...(await inspectQueue(db)));
    return findings;
  } catch (error) {
    const { message } = toStoreError(error, db.place) as Error;
    return [...findings, { check: "connection", status: "failed", code: "unreachable", message }];
  } finally {
    await db.close().catch(() => {});
  }
}

async function inspectServer(db: PostgresConnection, url: string): Promise<PostgresFinding[]> {
  const [row] = await db.query<{
    version: string;
    number: number;
    role: string;
    is_standby: boolean;
    read_only: string;
    tls: boolean | null;
  }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
      current_user AS role, pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') AS read_only,
      (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS tls`,
  );
  const { version, number, role, is_standby: isStandby, read_only: readOnly, tls } = row ?? unknownServer;
  const found: PostgresFinding[] = [
    {
      check: "connection",
      status: "ok",
      code: "ok",
      message: `${storeLabel(url)} is reached as the role ${role}${tls ? ", encrypted (TLS)" : ", without TLS"}`,
    },
    Math.floor(number / 10_000) < oldestVersion
      ? {
          check: "version",
          status: "failed",
          code: "old_version",
          message: `it is PostgreSQL ${version}, but ${oldestVersion} or newer is needed`,
          advice: "Update the database.",
        }
      : { check: "version", status: "ok", code: "ok", message: `PostgreSQL ${version}` },
  ];
  if (isStandby || readOnly === "on")
    found.push({
      check: "rights",
      status: "failed",
      code: "read_only",
      message: isStandby ? "it is a standby, which can only be read" : "it is read-only",
      advice: "Name the primary, for example with several hosts of a proxy that finds it.",
    });
  return found;
}

const unknownServer = { version: "?", number: 0, role: "?", is_standby: false, read_only: "off", tls: false };

async function inspectRights(db: PostgresConnection): Promise<PostgresFinding> {
  const [row] = await db.query<{
    is_super: boolean;
    has_schema: boolean;
    may_create: boolean;
    missing: string[] | null;
  }>(
    `SELECT current_setting('is_superuser') = 'on' AS is_super, to_regnamespace($1) IS NOT NULL AS has_schema,
      has_database_privilege(current_database(), 'CREATE') AS may_create,
      (SELECT array_agg(DISTINCT c.relname || ' (' || p || ')') FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r' AND NOT has_table_privilege(c.oid, p)) AS missing`,
    [db.schema],
  );
  const finding = (status: PostgresFinding["status"], code: string, message: string, advice?: string) =>
    ({ check: "rights", status, code, message, ...(advice !== undefined && { advice }) }) as const;
  if (row?.missing)
    return finding(
      "failed",
      "missing_rights",
      `the role may not use tables of the schema ${db.schema}: ${row.missing.slice(0, 5).join(", ")}`,
      `Let the role own the schema, or grant it: GRANT USAGE ON SCHEMA ${db.schema} TO …; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${db.schema} TO …`,
    );
  if (!row?.has_schema && !row?.may_create)
    return finding(
      "failed",
      "may_not_create",
      "the role may not create the schema",
      "GRANT CREATE ON DATABASE … TO …, or run `rondo migrate` with a role that may, and start with --no-migrate.",
    );
  if (row.is_super)
    return finding(
      "warning",
      "superuser",
      "the role is a superuser",
      "Use a role of its own, which owns only its database: CREATE ROLE rondo LOGIN PASSWORD '…'; CREATE DATABASE rondo OWNER rondo.",
    );
  return finding("ok", "ok", "the role has the rights that it needs, and is not a superuser");
}

/** Whether a notification reaches another connection. */
async function inspectListen(db: PostgresConnection): Promise<PostgresFinding> {
  const client = new pg.Client(db.clientConfig());
  client.on("error", () => {});
  await client.connect();
  try {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    client.on("notification", () => resolve(true));
    const channel = `rondo_doctor_${Math.random().toString(36).slice(2)}`;
    await client.query(`LISTEN ${channel}`);
    const timer = setTimeout(() => resolve(false), listenMs);
    await db.query("SELECT pg_notify($1, '')", [channel]);
    const startMs = performance.now();
    const hasCome = await promise;
    clearTimeout(timer);
    const ms = Math.max(1, Math.round(performance.now() - startMs));
    if (hasCome) return { check: "listen", status: "ok", code: "ok", message: `LISTEN works (${ms} ms)` };
    return {
      check: "listen",
      status: "warning",
      code: "no_listen",
      message: `a notification did not come within ${listenMs / 1000} s: LISTEN does not work, probably because of a proxy such as PgBouncer in transaction mode`,
      advice:
        "It works all the same, by polling, with more delay. Name the database itself, or a pool in session mode.",
    };
  } finally {
    await client.end().catch(() => {});
  }
}

async function inspectClock(db: PostgresConnection): Promise<PostgresFinding> {
  const beforeMs = Date.now();
  const [row] = await db.query<{ ms: number }>(
    "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms",
  );
  const roundTripMs = Date.now() - beforeMs;
  const skewMs = Math.round((row?.ms ?? beforeMs) - (beforeMs + roundTripMs / 2));
  const message = `the clocks of this machine and the database differ by ${Math.abs(skewMs)} ms (a round trip takes ${roundTripMs} ms)`;
  if (Math.abs(skewMs) <= maxSkewMs) return { check: "clock", status: "ok", code: "ok", message };
  const advice =
    "Leases use the database's clock, so runs are safe; times that clients see differ between servers. Synchronise the clocks (NTP).";
  return { check: "clock", status: "warning", code: "clock_skew", message, advice };
}

async function inspectTables(db: PostgresConnection): Promise<PostgresFinding> {
  const { version, newest } = await readSchemaState(db);
  const tables = { check: "tables", status: "ok", code: "ok" } as const;
  if (version === 0)
    return {
      ...tables,
      code: "no_tables",
      message: `there are no tables in the schema ${db.schema} yet; the next start creates them`,
    };
  if (version > newest)
    return {
      ...tables,
      status: "failed",
      code: "unknown_version",
      message: `its tables have version ${version}, but this program knows versions up to ${newest}`,
      advice: "Use a newer server.",
    };
  const age = version < newest ? `, and are migrated to ${newest} at the next start` : "";
  return { ...tables, message: `its tables have version ${version}${age}` };
}

async function inspectPool(db: PostgresConnection, connections: number): Promise<PostgresFinding> {
  const [row] = await db.query<{ max: number; used: number; role_limit: number }>(
    `SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS max,
      (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
      (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit`,
  );
  const { max = 0, used = 0, role_limit: roleLimit = -1 } = row ?? {};
  const limit = roleLimit >= 0 ? Math.min(max, roleLimit) : max;
  const left = limit - used;
  const needed = connections + 2;
  const message = `${used} of ${limit} connections are in use; a server takes up to ${needed} (postgres.connections and 2 more)`;
  if (left >= needed) return { check: "pool", status: "ok", code: "ok", message };
  return {
    check: "pool",
    status: "warning",
    code: "few_connections",
    message,
    advice:
      "There is no room for one more server, or for an update of one. Raise max_connections, or lower postgres.connections.",
  };
}
