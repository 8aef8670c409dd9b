// The connections of a store: a pool, whose prepared statements stay with it.

import { createHash } from "node:crypto";
import pg from "pg";
import { storeClosed } from "../rules.ts";
import { storeLabel } from "../store-label.ts";
import { isOutage, toStoreError } from "./faults.ts";

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `sslmode`. */
  readonly url: string;
  /** The most connections of this process. */
  readonly connections: number;
  readonly schema: string;
}

// Which advisory lock is for what; those of the nodes are in the other half of the numbers.
export const expiryLock = 0;
export const schemaLock = -1;
export const queueLock = -2;

/** How long a connection may take to be there. */
const connectMs = 5000;
/** After this long a query is given up, and its connection closed: a database that is slower than this is away. */
const queryMs = 20_000;

export class PostgresConnection {
  /** The quoted name of the schema. */
  readonly schema: string;
  /** The quoted name of the schema of pg-boss. */
  readonly queueSchema: string;
  /** The database without its password, for messages. */
  readonly place: string;
  readonly options: ConnectionOptions;
  /** Distinguishes the locks of this schema from others in the database. */
  readonly lockClass: number;
  /** Whether statements may be prepared: not before it is known that no proxy gives each transaction another session. */
  mayPrepare = false;
  /** Queries, for measurements. */
  roundTrips = 0;
  readonly #pool: pg.Pool;
  readonly #names = new Map<string, string>();
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.schema = quoted(options.schema);
    this.queueSchema = quoted(queueSchemaOf(options.schema));
    this.place = storeLabel(options.url);
    this.lockClass = createHash("sha256").update(`rondo:${options.schema}`).digest().readUInt32BE() >>> 1;
    this.#pool = new pg.Pool({ ...this.clientConfig(), max: options.connections, idleTimeoutMillis: 30_000 });
    // An idle connection that breaks is replaced by the next query.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** For a connection of its own, beside the pool. */
  clientConfig(): pg.ClientConfig {
    return {
      connectionString: this.options.url,
      connectionTimeoutMillis: connectMs,
      query_timeout: queryMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5000,
      application_name: "rondo",
      types: { getTypeParser },
    };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Under this name other nodes find the sessions of this one, from its next connection on. */
  nameSessions(name: string): void {
    Object.assign(this.#pool.options, { application_name: name });
  }

  /** The rows of a query. One that failed on a connection that was idle for long is tried once more. */
  async read<Row extends object>(
    sql: string,
    values: readonly unknown[] = [],
    onRetry?: () => void,
  ): Promise<Row[]> {
    try {
      return await this.query<Row>(sql, values);
    } catch (error) {
      if (!isOutage(error) || this.#isClosed) throw toStoreError(error, this.place);
    }
    onRetry?.();
    try {
      return await this.query<Row>(sql, values);
    } catch (error) {
      throw toStoreError(error, this.place);
    }
  }

  /** The rows of a query, in one round trip and a transaction of its own. Throws the errors of the driver. */
  async query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    if (this.#isClosed) throw storeClosed();
    this.roundTrips += 1;
    const query = { text: sql, values: [...values], ...(this.mayPrepare && { name: this.#nameOf(sql) }) };
    const { rows } = await this.#pool.query<Row>(query);
    return rows;
  }

  /** For pg-boss: statements that are not prepared, and may be several. */
  async execute(sql: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }> {
    if (this.#isClosed) throw storeClosed();
    const result = await this.#pool.query(sql, values && [...values]);
    // Several statements have several results, of which it reads the last.
    return Array.isArray(result) ? ((result as pg.QueryResult[]).at(-1) ?? { rows: [] }) : result;
  }

  /** Runs `use` with one connection of the pool. */
  async withClient<T>(use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeClosed();
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      return await use(client);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(failure);
    }
  }

  /** Runs `work`, with other connections, while no other node runs what has the same lock. */
  async withLock<T>(lock: number, work: () => Promise<T>): Promise<T> {
    return this.withClient(async (client) => {
      // In a transaction: a proxy may give each another session.
      await client.query("BEGIN");
      await client.query("SELECT pg_advisory_xact_lock($1, $2)", [this.lockClass, lock]);
      try {
        return await work();
      } finally {
        await client.query("COMMIT").catch(() => {});
      }
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  #nameOf(sql: string): string {
    let name = this.#names.get(sql);
    if (name === undefined) {
      name = `rondo_${createHash("sha1").update(sql).digest("base64url")}`;
      this.#names.set(sql, name);
    }
    return name;
  }
}

/** The schema in which pg-boss has its tables. */
export function queueSchemaOf(schema: string): string {
  return `${schema}_queue`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const int8 = 20;

/** Numbers of 64 bits are times, keys and sizes here, none of which is beyond 2^53. */
function getTypeParser(oid: number, format?: "text" | "binary") {
  if (oid === int8 && format !== "binary") return Number;
  return pg.types.getTypeParser(oid, format);
}
