// The PostgreSQL of a measurement, and what it says about its own work.
import {
  asSuperuser,
  createTestDatabase,
  type PostgresServer,
  startPostgresServer,
} from "../../packages/server/src/store/postgres/testkit/postgres-server.ts";

export interface DatabaseWork {
  /** Rows that were inserted, updated or deleted. */
  readonly rows: number;
  readonly walBytes: number;
  /** Transactions, each of which is a round trip. */
  readonly transactions: number;
}

export class BenchDatabase implements AsyncDisposable {
  readonly #server: PostgresServer;

  private constructor(server: PostgresServer) {
    this.#server = server;
  }

  /** With its settings for safety on: commits wait for the disk. */
  static async start(): Promise<BenchDatabase> {
    return new BenchDatabase(await startPostgresServer({ isDurable: true }));
  }

  /** The URL of a new database. */
  async create(): Promise<string> {
    return createTestDatabase(this.#server);
  }

  async version(): Promise<string> {
    return asSuperuser(this.#server, async (client) => {
      const { rows } = await client.query<{ server_version: string }>("SHOW server_version");
      return rows[0]?.server_version ?? "";
    });
  }

  /** What the database does while `work` goes on, less what it does without it. */
  async workOf(url: string, work: () => Promise<void>): Promise<DatabaseWork> {
    await settle();
    const idle = await this.#read(url);
    const idleStart = performance.now();
    await settle();
    const before = await this.#read(url);
    const start = performance.now();
    await work();
    await settle();
    const after = await this.#read(url);
    const share = (performance.now() - start) / (start - idleStart);
    const own = (name: keyof DatabaseWork) =>
      Math.max(0, after[name] - before[name] - (before[name] - idle[name]) * share);
    return { rows: own("rows"), walBytes: own("walBytes"), transactions: own("transactions") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  async #read(url: string): Promise<DatabaseWork> {
    const database = new URL(url).pathname.slice(1);
    return asSuperuser(
      this.#server,
      async (client) => {
        const { rows } = await client.query<Record<keyof DatabaseWork, string>>(
          `SELECT (SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables) AS rows,
            pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS "walBytes",
            (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()) AS transactions`,
        );
        const [row] = rows;
        return {
          rows: Number(row?.rows),
          walBytes: Number(row?.walBytes),
          transactions: Number(row?.transactions),
        };
      },
      database,
    );
  }
}

/** A session tells its statistics after 10 s without work at the latest. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 11_000);
  });
}
