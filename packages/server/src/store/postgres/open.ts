// Opens a store in PostgreSQL.

import { jobsTopic } from "../news.ts";
import type { Store } from "../store.ts";
import { PostgresConnection } from "./connection.ts";
import { EventPages } from "./event-pages.ts";
import { toStoreError } from "./faults.ts";
import { GroupWriter } from "./group-writer.ts";

import { JobQueue } from "./job-queue.ts";
import { checkMoved } from "./moved.ts";
import { NewsPoller } from "./news-poller.ts";
import { NodeSession } from "./node-session.ts";
import { PostgresNews } from "./postgres-news.ts";
import { PostgresStore } from "./postgres-store.ts";
import { readEvents } from "./reads.ts";
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
  /** How often a node says that it lives. Default: 1000. */
  readonly beatMs?: number | undefined;
  /** After how long without that it is dead for the others. Default: 10,000. */
  readonly deadAfterMs?: number | undefined;
  /** Receives what operators should know, such as that news have to be polled. Default: nobody. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Opens a store in PostgreSQL, and creates or migrates its tables. Throws a `StoreError`: `unknown_version` when a newer
 * server has migrated them, `unavailable` when the database cannot be used.
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, schema = "rondo", connections = 10, migrate: migrates = true } = options;
  const db = new PostgresConnection({ url, schema, connections });
  try {
    await prepareSchema(db, migrates);
    await checkMoved(db);
    const jobs = await JobQueue.start(db, { migrates, onWarning: options.onWarning });
    try {
      return await joinNodes(db, jobs, options);
    } catch (error) {
      await jobs.close();
      throw error;
    }
  } catch (error) {
    await db.close().catch(() => {});
    throw toStoreError(error, db.place);
  }
}

async function prepareSchema(db: PostgresConnection, migrates: boolean): Promise<void> {
  if (migrates) {
    await migrate(db);
    return;
  }
  const state = await readSchemaState(db);
  checkVersion(state, db.place);
  checkMigrated(state, db.place);
}

/** The store of a node that the others know. */
async function joinNodes(
  db: PostgresConnection,
  jobs: JobQueue,
  options: PostgresStoreOptions,
): Promise<Store> {
  const { now, onWarning, beatMs, deadAfterMs } = options;
  const pages = new EventPages((owner, id, after, limit) => readEvents(db, owner, id, after, limit));
  const news = new PostgresNews({
    send: (texts) => session.send(texts),
    onNews: (topic) => pages.forget(topic),
    onGap: () => pages.forgetAll(),
  });
  const session = new NodeSession(db, {
    onMessage: (text) => news.receive(text),
    onGap: () => news.publishAllHere(),
    onFreed: () => news.publish(jobsTopic),
    onWarning,
    beatMs,
    deadAfterMs,
  });
  await session.start();
  const node = () => session.key;
  const poller = session.listens ? undefined : new NewsPoller(db, news, { node });
  return new PostgresStore({
    db,
    writer: new GroupWriter(db, now),
    now,
    node,
    isCutOff: () => session.isCutOff,
    news,
    pages,
    jobs,
    onClose: async () => {
      await poller?.close();
      await jobs.close();
      await session.close();
    },
  });
}
