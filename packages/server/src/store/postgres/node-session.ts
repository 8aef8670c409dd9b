// The life of a node among the others. It has a session of its own, with an advisory lock that PostgreSQL gives up when
// the session ends: so the others see at once that a process is gone, and take over its runs. With each beat it says
// that it lives, by the clock of the database, and ends the leases of nodes that are gone, frozen or cut off.
//
// Where a proxy gives each transaction another session (PgBouncer in transaction mode), there is no such lock, and news
// do not arrive: then only the beats count, and news are polled.

import { randomUUID } from "node:crypto";
import pg from "pg";
import type { PostgresConnection } from "./connection.ts";
import { toStoreError } from "./faults.ts";

export interface NodeSessionOptions {
  /** Receives what other sessions send to the channel. */
  readonly onMessage: (text: string) => void;
  /** Called when messages may have been missed, and when the leases of this node may be lost. */
  readonly onGap: () => void;
  /** Called when the leases of others were ended. */
  readonly onFreed: () => void;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** How often a node says that it lives. Default: 1000. */
  readonly beatMs?: number | undefined;
  /** After how long without a beat a node is dead for the others. Default: 10,000. */
  readonly deadAfterMs?: number | undefined;
}

interface Beat {
  readonly isAlive: boolean;
  readonly dead: readonly number[];
  readonly freed: number;
}

/** How long a message to ourselves may take before `LISTEN` is taken for broken. */
const probeMs = 2000;
const firstPauseMs = 100;
const longestPauseMs = 2000;

export class NodeSession {
  readonly #db: PostgresConnection;
  readonly #options: NodeSessionOptions;
  readonly #beatMs: number;
  readonly #deadAfterMs: number;
  #client: pg.Client | undefined;
  #key: number | undefined;
  /** When it last said that it lives, by the clock of this process. */
  #seenAtMs = 0;
  #listens = false;
  #timer: NodeJS.Timeout | undefined;
  #reconnecting: Promise<void> | undefined;
  #beating: Promise<void> | undefined;
  #isClosed = false;

  constructor(db: PostgresConnection, options: NodeSessionOptions) {
    this.#db = db;
    this.#options = options;
    this.#beatMs = options.beatMs ?? 1000;
    this.#deadAfterMs = options.deadAfterMs ?? 10_000;
  }

  /** Under which the others know this node; undefined while it is not among them. */
  get key(): number | undefined {
    return this.#key;
  }

  /**
   * Whether the others may take this node for dead. They see at once that a session has ended; half of the time until
   * they miss its beats is enough for a database that restarts.
   */
  get isCutOff(): boolean {
    return performance.now() - this.#seenAtMs > this.#deadAfterMs / 2;
  }

  /** Whether messages arrive. */
  get listens(): boolean {
    return this.#listens;
  }

  async start(): Promise<void> {
    await this.#connect();
    this.#listens = await this.#probe();
    this.#db.mayPrepare = this.#listens;
    if (!this.#listens) {
      this.#drop();
      this.#options.onWarning?.(
        "LISTEN does not work on this connection to PostgreSQL, as through PgBouncer in transaction mode. News of other servers are polled instead: events of their runs come a little later, and runs of a server that dies are taken over after 10 seconds. Connect to PostgreSQL directly, or in session mode, to avoid that.",
      );
    }
    await this.#join();
    this.#timer = setInterval(() => this.#beat(), this.#beatMs).unref();
  }

  /** Sends texts to all other nodes, in one round trip. */
  async send(texts: readonly string[]): Promise<void> {
    if (!this.#client || !this.#listens) return;
    this.#db.roundTrips += 1;
    // Hints need not survive anything: the commit waits for no disk.
    await this.#client.query({
      text: "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, message) FROM unnest($2::text[]) message",
      values: [this.#channel, texts],
      name: "rondo_notify",
    });
  }

  /** Leaves the others: what this node still held is free at once. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#beating;
    await this.#reconnecting;
    const key = this.#key;
    this.#key = undefined;
    if (key !== undefined)
      await this.#db.query(`SELECT ${this.#db.schema}.leave_v1($1)`, [key]).catch(() => {});
    await this.#client?.end().catch(() => {});
    this.#client = undefined;
  }

  get #channel(): string {
    return `rondo_${this.#db.options.schema}`;
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ ...this.#db.clientConfig(), query_timeout: this.#deadAfterMs / 2 });
    client.on("error", () => this.#onLost(client));
    client.on("end", () => this.#onLost(client));
    client.on("notification", ({ payload, processId }) => {
      const isOwn = processId === (client as unknown as { processID: number }).processID;
      if (payload !== undefined && !isOwn) this.#options.onMessage(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#channel}"`);
    } catch (error) {
      client.removeAllListeners("end");
      client.end().catch(() => {});
      throw toStoreError(error, this.#db.place);
    }
    this.#client = client;
  }

  /** Whether what another session sends arrives here. */
  async #probe(): Promise<boolean> {
    const client = this.#client;
    if (!client) return false;
    const nonce = `probe ${randomUUID()}`;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), probeMs);
    const onNotification = ({ payload }: pg.Notification) => {
      if (payload === nonce) resolve(true);
    };
    client.on("notification", onNotification);
    try {
      await this.#db.query("SELECT pg_notify($1, $2)", [this.#channel, nonce]);
      return await promise;
    } finally {
      clearTimeout(timer);
      client.removeListener("notification", onNotification);
    }
  }

  async #join(): Promise<void> {
    const sql = `SELECT ${this.#db.schema}.join_v1($1, $2) AS key`;
    const values = [this.#db.lockClass, this.#listens];
    const askedAtMs = performance.now();
    const rows = this.#client
      ? (await this.#client.query<{ key: number }>(sql, values)).rows
      : await this.#db.query<{ key: number }>(sql, values);
    this.#key = rows[0]?.key;
    this.#seenAtMs = askedAtMs;
    const name = `rondo node ${this.#key}`;
    this.#db.nameSessions(name);
    if (this.#listens) await this.#client?.query(`SET application_name = '${name}'`);
  }

  #beat(): void {
    if (this.#beating || this.#reconnecting || this.#isClosed) return;
    this.#beating = this.#beatOnce()
      .catch(() => {
        // The connection breaks, and is made again; the pool's are replaced by themselves.
        if (this.#client) this.#onLost(this.#client);
      })
      .finally(() => {
        this.#beating = undefined;
      });
  }

  async #beatOnce(): Promise<void> {
    const sql = `SELECT ${this.#db.schema}.beat_v1($1, $2, $3) AS beat`;
    const values = [this.#key ?? 0, this.#db.lockClass, this.#deadAfterMs];
    const askedAtMs = performance.now();
    const rows = this.#client
      ? (await this.#client.query<{ beat: Beat }>({ text: sql, values, name: "rondo_beat" })).rows
      : await this.#db.query<{ beat: Beat }>(sql, values);
    const beat = rows[0]?.beat;
    if (!beat) return;
    if (beat.freed > 0) this.#options.onFreed();
    if (beat.isAlive) this.#seenAtMs = askedAtMs;
    if (beat.isAlive || this.#isClosed) return;
    // The others took this node for dead while it was frozen or cut off. Its leases are lost, and it begins anew.
    this.#key = undefined;
    if (this.#listens) await this.#client?.query("SELECT pg_advisory_unlock_all()");
    await this.#join();
    this.#options.onGap();
  }

  #onLost(client: pg.Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#drop();
    // Without its session it is not among the others, who end its leases now.
    this.#key = undefined;
    this.#reconnecting ??= this.#reconnect().finally(() => {
      this.#reconnecting = undefined;
    });
  }

  async #reconnect(): Promise<void> {
    for (let pauseMs = firstPauseMs; !this.#isClosed; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        await this.#connect();
        await this.#join();
        this.#options.onGap();
        return;
      } catch {
        this.#drop();
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      }
    }
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    client.removeAllListeners("end");
    client.removeAllListeners("notification");
    // Its socket may be dead: nobody waits for it.
    client.end().catch(() => {});
    const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } };
    setTimeout(() => connection?.stream?.destroy(), 1000).unref();
  }
}
