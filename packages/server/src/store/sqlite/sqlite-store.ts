// The store in SQLite, for one server process. Reads are done at once; writes go through the group writer.

import { InvalidArgumentError } from "rondo";
import { isTerminal } from "../../protocol/status.ts";
import type { ConversationItem, NewConversation } from "../conversation-store.ts";
import { noteBeside, readCrashNote, removeCrashNote } from "../crash-note.ts";
import { encodeItems, encodeNew, encodeWrite } from "../encode.ts";
import type { FileStore } from "../file-store.ts";
import { LocalNews } from "../news.ts";
import type { Lease, RunQueue } from "../run-queue.ts";
import type {
  ListOptions,
  ListResponsesOptions,
  ListRunsOptions,
  NewResponse,
  RunWrite,
  Store,
} from "../store.ts";
import { keepBrokenWal } from "./broken-wal.ts";
import { Chains } from "./chains.ts";
import { prepareFile, SqliteConnection } from "./connection.ts";
import {
  addItems,
  insertConversation,
  readConversationHead,
  readHistory,
  readItem,
  removeItem,
  setMetadata,
} from "./conversations.ts";
import { toStoreError } from "./faults.ts";
import { SqliteFiles } from "./files.ts";
import { GroupWriter, type WriteOptions } from "./group-writer.ts";
import { findKey } from "./keys.ts";
import { listConversationItems, listInput, listResponses } from "./lists.ts";
import { lockForProcess } from "./process-lock.ts";
import { endLeases, SqliteQueue } from "./queue.ts";
import { readEvents, readItems, readOutput, readResponse, readRun } from "./reads.ts";
import { listRuns, readTrace } from "./runs.ts";
import { inspectWal } from "./wal.ts";
import { addToRun, heldRun, insertResponse } from "./writes.ts";

export interface SqliteStoreOptions {
  /** The file. It and its folders are created if they are missing. */
  path: string;
  /** The clock of the leases, in milliseconds. Default: `Date.now`. */
  now?: () => number;
  /** Receives a warning when part of the file is lost, though the rest can be used. Default: none. */
  onWarning?: (message: string) => void;
}

/**
 * Opens the store in a SQLite file. Throws a `StoreError`: `in_use` when another server has it open,
 * `unknown_version` when a newer one wrote it, `unavailable` when it cannot be read or written.
 */
export function sqliteStore({ path, now = Date.now, onWarning }: SqliteStoreOptions): Store {
  if (path === "" || path === ":memory:") {
    throw new InvalidArgumentError({
      field: "path",
      expected: "the path of a file",
      received: path,
      hint: 'For a store in memory, use "memory".',
    });
  }
  const file = prepareFile(path);
  const unlock = lockForProcess(file);
  try {
    const wal = inspectWal(file); // before SQLite reads it, and overwrites what is broken
    const warning = wal.state === "broken" ? keepBrokenWal(file, wal, now()) : undefined;
    if (warning !== undefined) onWarning?.(warning);
    const connection = new SqliteConnection(file);
    // Otherwise the rest of it would look broken after the next crash too.
    if (warning !== undefined) connection.database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    // The file belongs to one process: the holders of leases are gone.
    const note = noteBeside(file);
    connection.inTransaction(() => {
      endLeases(connection, readCrashNote(note));
      connection.change("DELETE FROM files WHERE bytes IS NULL"); // their uploads are gone too
    });
    removeCrashNote(note);
    return new SqliteStore(connection, { now, onClose: unlock });
  } catch (error) {
    unlock();
    throw toStoreError(error, file);
  }
}

/** A store that lives as long as the process. */
export function sqliteInMemory({
  now = Date.now,
  keepsNothing,
}: Omit<SqliteStoreOptions, "path"> & Pick<Store, "keepsNothing">): Store {
  return new SqliteStore(new SqliteConnection(":memory:"), { now, keepsNothing });
}

// A clean-up of many responses must not block other writes for long.
const expireBatch = 100;

export class SqliteStore implements Store {
  /** Each run writes to a page of its own: the tokens of a fast model share a commit. */
  readonly flushWindowMs = 15;
  readonly keepsNothing: boolean;
  readonly queue: RunQueue;
  readonly files: FileStore;
  readonly news = new LocalNews();
  readonly #db: SqliteConnection;
  readonly #chains: Chains;
  readonly #writer: GroupWriter;
  readonly #now: () => number;
  readonly #onClose: (() => void) | undefined;
  #isClosed = false;

  constructor(
    db: SqliteConnection,
    options: { now: () => number; onClose?: () => void; keepsNothing?: boolean | undefined },
  ) {
    const { now, onClose, keepsNothing = false } = options;
    this.keepsNothing = keepsNothing;
    this.#db = db;
    this.#chains = new Chains(db);
    this.#now = now;
    this.#onClose = onClose;
    this.#writer = new GroupWriter(db.database, db.path);
    this.queue = new SqliteQueue(db, this.#writer, now);
    this.files = new SqliteFiles(db, this.#writer, now);
  }

  async get(owner: string, id: string) {
    return this.#db.read(() => readResponse(this.#db, owner, id));
  }

  async output(owner: string, id: string) {
    return this.#db.read(() => readOutput(this.#db, owner, id));
  }

  async list(owner: string, options: ListResponsesOptions) {
    return this.#db.read(() => listResponses(this.#db, owner, options));
  }

  async listRuns(owner: string, options: ListRunsOptions) {
    return this.#db.read(() => listRuns(this.#db, owner, options));
  }

  async trace(owner: string, id: string, after: number) {
    return this.#db.read(() => readTrace(this.#db, owner, id, after));
  }

  async input(owner: string, id: string, options: ListOptions) {
    return this.#db.read(() => listInput(this.#db, owner, id, options));
  }

  async chain(owner: string, id: string) {
    return this.#db.read(() => this.#chains.read(owner, id));
  }

  async items(owner: string, ids: readonly string[]) {
    return this.#db.read(() => readItems(this.#db, owner, ids));
  }

  async events(owner: string, id: string, after: number, limit: number) {
    return this.#db.read(() => readEvents(this.#db, owner, id, after, limit));
  }

  async findByKey(owner: string, key: string) {
    return this.#db.read(() => findKey(this.#db, owner, key, this.#now()));
  }

  remove(owner: string, id: string): Promise<boolean> {
    return this.#write(() => {
      const removed = this.#db.change("DELETE FROM responses WHERE id = ? AND owner = ?", id, owner);
      if (removed > 0) this.#chains.forget(new Set([id]));
      return removed > 0;
    });
  }

  requestCancel(owner: string, id: string) {
    return this.#write(() => {
      const response = readResponse(this.#db, owner, id);
      if (response === undefined || isTerminal(response.status)) return response;
      this.#db.change("UPDATE responses SET is_cancel_requested = 1 WHERE id = ?", id);
      return { ...response, isCancelRequested: true };
    });
  }

  async createConversation({ metadata, items, ...head }: NewConversation): Promise<void> {
    const encoded = { ...head, metadata: JSON.stringify(metadata), items: encodeItems(items) };
    await this.#write(() => insertConversation(this.#db, encoded));
  }

  async getConversation(owner: string, id: string) {
    return this.#db.read(() => readConversationHead(this.#db, owner, id));
  }

  async updateConversation(owner: string, id: string, metadata: Readonly<Record<string, string>>) {
    const encoded = JSON.stringify(metadata);
    return this.#write(() => setMetadata(this.#db, owner, id, encoded));
  }

  removeConversation(owner: string, id: string): Promise<boolean> {
    return this.#write(
      () => this.#db.change("DELETE FROM conversations WHERE owner = ? AND id = ?", owner, id) > 0,
    );
  }

  async addConversationItems(owner: string, id: string, items: readonly ConversationItem[]) {
    const encoded = encodeItems(items);
    return this.#write(() => addItems(this.#db, owner, id, encoded));
  }

  removeConversationItem(owner: string, id: string, itemId: string): Promise<boolean> {
    return this.#write(() => removeItem(this.#db, owner, id, itemId));
  }

  async getConversationItem(owner: string, id: string, itemId: string) {
    return this.#db.read(() => readItem(this.#db, owner, id, itemId));
  }

  async listConversationItems(owner: string, id: string, options: ListOptions) {
    return this.#db.read(() => listConversationItems(this.#db, owner, id, options));
  }

  async readConversation(owner: string, id: string) {
    return this.#db.read(() => readHistory(this.#db, owner, id));
  }

  async create(response: NewResponse, worker: string, leaseMs: number): Promise<Lease> {
    const encoded = encodeNew(response);
    // Nobody waits any more for a foreground run that a power cut ended.
    return this.#write(
      () => {
        const now = this.#now();
        const fence = insertResponse(this.#db, encoded, { worker, untilMs: now + leaseMs }, now);
        return { responseId: encoded.id, fence };
      },
      { isDurable: encoded.background || encoded.idempotency !== undefined },
    );
  }

  async commit({ responseId, fence }: Lease, write: RunWrite): Promise<void> {
    const encoded = encodeWrite(write);
    // Pieces of text: the run goes on meanwhile.
    const mayWait =
      !write.isDurable && !write.update && encoded.output.length === 0 && encoded.steps.length === 0;
    const add = () => addToRun(this.#db, { responseId, fence }, encoded, this.#now());
    await this.#write(add, { isDurable: write.isDurable ?? false, mayWait });
  }

  async resume(lease: Lease) {
    return this.#db.read(() => readRun(this.#db, heldRun(this.#db, lease)));
  }

  async expire(beforeMs: number): Promise<number> {
    for (let total = 0; ; ) {
      const removed = await this.#write(() => {
        const rows = this.#db.all<{ id: string }>(
          `DELETE FROM responses
            WHERE key IN (SELECT key FROM responses WHERE ended_at_ms < ? LIMIT ${expireBatch}) RETURNING id`,
          beforeMs,
        );
        this.#chains.forget(new Set(rows.map(({ id }) => id)));
        return rows.length;
      });
      total += removed;
      if (removed < expireBatch) return total;
    }
  }

  keepSecret(name: string, offered: string): Promise<string> {
    return this.#write(() => {
      this.#db.change(
        "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
        name,
        offered,
      );
      const [row] = this.#db.all<{ value: string }>("SELECT value FROM secrets WHERE name = ?", name);
      return row?.value ?? offered;
    });
  }

  async check(): Promise<void> {
    await this.#write(() =>
      this.#db.change(
        "INSERT INTO checks (key, at_ms) VALUES (1, ?) ON CONFLICT (key) DO UPDATE SET at_ms = excluded.at_ms",
        this.#now(),
      ),
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#writer.close();
    try {
      this.#db.close();
    } finally {
      this.#onClose?.();
    }
  }

  #write<T>(run: () => T, options: WriteOptions = { isDurable: true }): Promise<T> {
    return this.#writer.write(run, options);
  }
}
