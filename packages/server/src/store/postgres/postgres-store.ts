// The store in PostgreSQL, for any number of nodes. Reads are single queries; writes go through the group writer, as
// calls of the functions in `sql/`.

import { isTerminal } from "../../protocol/status.ts";
import type {
  ConversationItem,
  ConversationStore,
  NewConversation,
  StoredConversation,
} from "../conversation-store.ts";
import { encodeItems, encodeNew, encodeWrite } from "../encode.ts";
import type { FileStore } from "../file-store.ts";
import type { News } from "../news.ts";
import type { Lease } from "../run-queue.ts";
import type {
  ListOptions,
  ListResponsesOptions,
  ListRunsOptions,
  NewResponse,
  RunWrite,
  Store,
  StoredResponse,
} from "../store.ts";
import { StoreError } from "../store-error.ts";
import {
  checkAdded,
  checkCommitted,
  commitCall,
  createCall,
  createdFence,
  hasDuplicates,
  toDbItems,
} from "./calls.ts";
import { Chains } from "./chains.ts";
import { expiryLock, type PostgresConnection } from "./connection.ts";
import {
  type ConversationRow,
  readConversationHead,
  readConversationItem,
  readHistory,
  toConversation,
} from "./conversations.ts";
import type { EventPages } from "./event-pages.ts";
import { PostgresFiles } from "./files.ts";
import type { Call, GroupWriter } from "./group-writer.ts";
import type { JobQueue } from "./job-queue.ts";
import { listConversationItems, listInput, listResponses } from "./lists.ts";
import type { PostgresNews } from "./postgres-news.ts";
import { PostgresQueue } from "./queue.ts";
import { findKey, readItems, readOutput, readResponse, readRun } from "./reads.ts";
import { type ResponseRow, toResponse } from "./rows.ts";
import { listRuns, readTrace } from "./runs.ts";
import { toDbText } from "./text.ts";

export interface PostgresStoreParts {
  readonly db: PostgresConnection;
  readonly writer: GroupWriter;
  /** Replaces the database's clock. */
  readonly now?: (() => number) | undefined;
  /** Called once, when the store is closed. */
  readonly onClose?: () => Promise<void>;
  /** The key of this node among the others. */
  readonly node: () => number | undefined;
  /** Whether the others may take this node for dead. */
  readonly isCutOff: () => boolean;
  readonly news: PostgresNews;
  readonly pages: EventPages;
  readonly jobs: JobQueue;
}

/** How long a call of a client is tried while the database is away: it waits for the answer. */
const clientPatienceMs = 2000;
/** How long a run waits for the database: a restart, or another primary, need not end it. */
const runPatienceMs = 15_000;
/** The error of a run that was tried too often: its job goes to the dead letters. */
const gaveUp = "too_many_attempts";
// A clean-up of many responses must not block other writes for long.
const expireBatch = 100;

export class PostgresStore implements Store, ConversationStore {
  /** A commit is a round trip: events of a few milliseconds share one. */
  readonly flushWindowMs = 5;
  readonly isShared = true;
  readonly queue: PostgresQueue;
  readonly files: FileStore;
  readonly news: News;
  readonly #db: PostgresConnection;
  readonly #writer: GroupWriter;
  readonly #chains: Chains;
  readonly #parts: PostgresStoreParts;
  #isClosed = false;

  constructor(parts: PostgresStoreParts) {
    this.#parts = parts;
    this.#db = parts.db;
    this.#writer = parts.writer;
    this.#chains = new Chains(parts.db);
    this.files = new PostgresFiles(parts.db, parts.now);
    this.news = parts.news;
    this.queue = new PostgresQueue({ ...parts, now: parts.now });
  }

  get(owner: string, id: string) {
    return readResponse(this.#db, owner, id);
  }

  output(owner: string, id: string) {
    return readOutput(this.#db, owner, id);
  }

  list(owner: string, options: ListResponsesOptions) {
    return listResponses(this.#db, owner, options);
  }

  listRuns(owner: string, options: ListRunsOptions) {
    return listRuns(this.#db, owner, options);
  }

  trace(owner: string, id: string, after: number) {
    return readTrace(this.#db, owner, id, after);
  }

  input(owner: string, id: string, options: ListOptions) {
    return listInput(this.#db, owner, id, options);
  }

  chain(owner: string, id: string) {
    return this.#chains.read(owner, id);
  }

  items(owner: string, ids: readonly string[]) {
    return readItems(this.#db, owner, ids);
  }

  events(owner: string, id: string, after: number, limit: number) {
    return this.#parts.pages.events(owner, id, after, limit);
  }

  findByKey(owner: string, key: string) {
    return findKey(this.#db, owner, key, this.#parts.now);
  }

  async remove(owner: string, id: string): Promise<boolean> {
    const { isRemoved } = await this.#write<{ isRemoved: boolean }>({
      call: "remove",
      id: toDbText(id),
      owner: toDbText(owner),
      job: this.#parts.jobs.removeSql(id),
    });
    if (isRemoved) this.#chains.forget(id);
    if (isRemoved) this.#parts.pages.forget(id);
    return isRemoved;
  }

  async requestCancel(owner: string, id: string): Promise<StoredResponse | undefined> {
    const call = { call: "requestCancel", id: toDbText(id), owner: toDbText(owner) };
    const row = await this.#write<ResponseRow | null>(call);
    return row ? toResponse(row) : undefined;
  }

  async createConversation({ id, owner, createdAtMs, metadata, items }: NewConversation): Promise<void> {
    const encoded = encodeItems(items);
    const answer = await this.#write<{ isTaken?: boolean; taken?: string[] }>({
      call: "createConversation",
      id: toDbText(id),
      owner: toDbText(owner),
      createdAtMs,
      metadata: JSON.stringify(metadata),
      items: toDbItems(encoded),
      isInvalid: hasDuplicates(encoded),
    });
    if (answer.isTaken)
      throw new StoreError("duplicate_id", `There is a conversation ${id} already. Give it a new id.`);
    checkAdded(encoded, answer);
  }

  getConversation(owner: string, id: string) {
    return readConversationHead(this.#db, owner, id);
  }

  async updateConversation(
    owner: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | undefined> {
    const row = await this.#write<ConversationRow | null>({
      call: "updateConversation",
      id: toDbText(id),
      owner: toDbText(owner),
      metadata: JSON.stringify(metadata),
    });
    return row ? toConversation(row) : undefined;
  }

  removeConversation(owner: string, id: string): Promise<boolean> {
    return this.#write({ call: "removeConversation", id: toDbText(id), owner: toDbText(owner) });
  }

  async addConversationItems(
    owner: string,
    id: string,
    items: readonly ConversationItem[],
  ): Promise<boolean> {
    const encoded = encodeItems(items);
    const answer = await this.#write<{ isFound?: boolean; taken?: string[] }>({
      call: "addConversationItems",
      id: toDbText(id),
      owner: toDbText(owner),
      items: toDbItems(encoded),
      isInvalid: hasDuplicates(encoded),
    });
    checkAdded(encoded, answer);
    return answer.isFound === true;
  }

  removeConversationItem(owner: string, id: string, itemId: string): Promise<boolean> {
    return this.#write({
      call: "removeConversationItem",
      id: toDbText(id),
      owner: toDbText(owner),
      itemId: toDbText(itemId),
    });
  }

  getConversationItem(owner: string, id: string, itemId: string) {
    return readConversationItem(this.#db, owner, id, itemId);
  }

  listConversationItems(owner: string, id: string, options: ListOptions) {
    return listConversationItems(this.#db, owner, id, options);
  }

  readConversation(owner: string, id: string) {
    return readHistory(this.#db, owner, id);
  }

  async create(response: NewResponse, worker: string, leaseMs: number): Promise<Lease> {
    const encoded = encodeNew(response);
    const priority = priorityOf(response);
    const job = encoded.background ? this.#parts.jobs.sendSql(encoded.id, priority) : undefined;
    const call = createCall(encoded, { worker, node: this.#parts.node(), leaseMs }, { job, priority });
    // Nobody waits any more for a foreground run whose database has lost its power.
    const isDurable = encoded.background || encoded.idempotency !== undefined;
    const answer = await this.#write<object>(call, { isDurable });
    return { responseId: encoded.id, fence: createdFence(encoded, answer) };
  }

  async commit({ responseId, fence }: Lease, write: RunWrite): Promise<void> {
    const lease = { responseId, fence };
    const encoded = encodeWrite(write);
    const call = commitCall(lease, encoded, this.#endOfJob(responseId, write));
    // Text too: another node shows it at once to followers, who must never have what the database forgets in a crash,
    // and the run writes differently when it is repeated.
    const answer = await this.#write<object>(call, { patienceMs: runPatienceMs });
    checkCommitted(lease, encoded, answer);
    if (encoded.events.length > 0) this.#parts.pages.forget(responseId);
  }

  resume(lease: Lease) {
    return readRun(this.#db, lease);
  }

  async expire(beforeMs: number): Promise<number> {
    for (let total = 0; ; ) {
      const { ids } = await this.#write<{ ids: string[] }>({
        call: "expire",
        beforeMs: Math.min(beforeMs, Number.MAX_SAFE_INTEGER),
        limit: expireBatch,
        lockClass: this.#db.lockClass,
        lock: expiryLock,
      });
      for (const id of ids) this.#chains.forget(id);
      total += ids.length;
      if (ids.length < expireBatch) return total;
    }
  }

  keepSecret(name: string, offered: string): Promise<string> {
    return this.#write({ call: "keepSecret", name, offered });
  }

  async check(): Promise<void> {
    await this.#write({ call: "check" });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#writer.close();
    await this.#parts.onClose?.();
    await this.#db.close();
  }

  /** How the job of a response ends with this write, if it does. */
  #endOfJob(responseId: string, { update }: RunWrite): string | undefined {
    const { jobs } = this.#parts;
    if (update?.status === undefined || !isTerminal(update.status)) return undefined;
    return update.error?.code === gaveUp
      ? jobs.failSql(responseId, update.error.message)
      : jobs.completeSql(responseId);
  }

  #write<T>(
    call: Call,
    { isDurable = true, patienceMs = clientPatienceMs }: { isDurable?: boolean; patienceMs?: number } = {},
  ): Promise<T> {
    return this.#writer.write<T>(call, { isDurable, patienceMs });
  }
}

/** The clients' own word for it: which runs are begun first, of those that wait. */
function priorityOf({ request }: NewResponse): number {
  const { service_tier: tier } = request;
  if (tier === "priority") return 1;
  return tier === "flex" ? -1 : 0;
}
