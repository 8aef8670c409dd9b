// The reference store: the contract in plain maps, for tests that compare stores or need a fast one.

import type { InputItem, OutputItem } from "../../protocol/items.ts";
import { isTerminal } from "../../protocol/status.ts";
import {
  addsToConversation,
  type ConversationHistory,
  type ConversationItem,
  type NewConversation,
  type StoredConversation,
} from "../conversation-store.ts";
import { copyPiece, type EncodedWrite, encodeNew, encodeWrite } from "../encode.ts";
import { LocalNews } from "../news.ts";
import { checkKey, checkNew, checkPlace, checkWrite, type KnownItem, lostLease } from "../rules.ts";
import type { Lease } from "../run-queue.ts";
import { planScan, titleMatches } from "../run-scan.ts";
import type {
  Chain,
  ChainLink,
  ListOptions,
  ListResponsesOptions,
  ListRunsOptions,
  NewResponse,
  RunSummary,
  RunWrite,
  ScannedPage,
  Store,
  StoredEvent,
  StoredOutput,
  StoredResponse,
  StoredRun,
  TracePiece,
} from "../store.ts";
import {
  addConversation,
  addItems,
  addResponse,
  historyOf,
  itemPage,
  removeConversation,
  removeItem,
  toConversation,
} from "./memory-conversations.ts";
import { MemoryFiles } from "./memory-files.ts";
import { MemoryQueue } from "./memory-queue.ts";
import {
  byAge,
  type KeyRecord,
  newOwner,
  newRecord,
  type OwnerRecord,
  type ResponseRecord,
  toLink,
  toOutput,
  toResponse,
  toRun,
  toSummary,
} from "./memory-record.ts";
import { pageOf } from "./page.ts";

export interface MemoryStoreOptions {
  /** The clock of the leases, in milliseconds. Default: `Date.now`. */
  now?: () => number;
}

/** A store that lives as long as the process. */
export function memoryStore({ now = Date.now }: MemoryStoreOptions = {}): Store {
  return new MemoryStore(now);
}

class MemoryStore implements Store {
  readonly queue: MemoryQueue;
  readonly files: MemoryFiles;
  readonly news = new LocalNews();
  readonly #owners = new Map<string, OwnerRecord>();
  readonly #secrets = new Map<string, string>();
  #serial = 0;

  constructor(now: () => number) {
    this.queue = new MemoryQueue(now);
    this.files = new MemoryFiles(now);
  }

  async get(owner: string, id: string): Promise<StoredResponse | undefined> {
    const record = this.#find(owner, id);
    return record && toResponse(record);
  }

  async output(owner: string, id: string): Promise<readonly StoredOutput[]> {
    const record = this.#find(owner, id);
    return record ? toOutput(record) : [];
  }

  async list(owner: string, options: ListResponsesOptions) {
    const all = [...this.#owner(owner).responses.values()].toSorted(byAge);
    const { status, model, background } = options;
    const page = pageOf(all, options, {
      idOf: (record) => record.head.id,
      isMatch: ({ head }) =>
        (status === undefined || head.status === status) &&
        (model === undefined || head.model === model) &&
        (background === undefined || head.background === background),
    });
    return { data: page.data.map(toResponse), hasMore: page.hasMore };
  }

  async listRuns(owner: string, options: ListRunsOptions): Promise<ScannedPage<RunSummary>> {
    const all = [...this.#owner(owner).responses.values()].toSorted(byAge);
    const { title, idRange } = planScan(options);
    const { data, hasMore } = pageOf(all, options, {
      idOf: (record) => record.head.id,
      isMatch: (record) =>
        isListed(record, options) &&
        (title === undefined || titleMatches(record.title, title)) &&
        (idRange === undefined || (record.head.id >= idRange[0] && record.head.id < idRange[1])),
    });
    const isFromEnd = options.before !== undefined && options.after === undefined;
    const next = hasMore ? data.at(isFromEnd ? 0 : -1)?.head.id : undefined;
    return { data: data.map(toSummary), hasMore, next };
  }

  async trace(owner: string, id: string, after: number): Promise<readonly TracePiece[]> {
    const pieces = (this.#find(owner, id)?.trace ?? []).filter(({ last }) => last > after);
    return pieces.toSorted((one, other) => one.last - other.last).map(copyPiece);
  }

  async input(owner: string, id: string, options: ListOptions) {
    const page = pageOf(this.#find(owner, id)?.input ?? [], options, { idOf: (item) => item.id });
    return { data: page.data.map((item) => JSON.parse(item.data) as InputItem), hasMore: page.hasMore };
  }

  async chain(owner: string, id: string): Promise<Chain> {
    const links: ChainLink[] = [];
    let serial = Number.POSITIVE_INFINITY;
    for (let next: string | null = id; next !== null; ) {
      const record = this.#find(owner, next);
      if (record === undefined || record.serial >= serial) return { links: [], missing: next };
      links.push(toLink(record));
      serial = record.serial;
      next = record.head.previousResponseId;
    }
    return { links: links.toReversed() };
  }

  async items(owner: string, ids: readonly string[]): Promise<readonly (InputItem | OutputItem)[]> {
    const { items, conversationItems } = this.#owner(owner);
    return [...new Set(ids)].flatMap((id) => {
      const item = items.get(id) ?? conversationItems.get(id);
      return item ? [JSON.parse(item.data) as InputItem | OutputItem] : [];
    });
  }

  async events(owner: string, id: string, after: number, limit: number): Promise<readonly StoredEvent[]> {
    const events = this.#find(owner, id)?.events ?? [];
    const start = Math.max(0, after + 1);
    return events.slice(start, start + limit).map((event) => ({ ...event }));
  }

  async findByKey(owner: string, key: string) {
    const record = this.#key(this.#owner(owner), key);
    return record && { responseId: record.responseId, fingerprint: record.fingerprint };
  }

  async remove(owner: string, id: string): Promise<boolean> {
    const record = this.#find(owner, id);
    if (record) this.#delete(record);
    return record !== undefined;
  }

  async requestCancel(owner: string, id: string): Promise<StoredResponse | undefined> {
    const record = this.#find(owner, id);
    if (record && !isTerminal(record.head.status)) record.head = { ...record.head, isCancelRequested: true };
    return record && toResponse(record);
  }

  async createConversation(conversation: NewConversation): Promise<void> {
    const owner = this.#owner(conversation.owner);
    addConversation(owner, conversation);
    this.#owners.set(conversation.owner, owner);
  }

  async getConversation(owner: string, id: string): Promise<StoredConversation | undefined> {
    const record = this.#owner(owner).conversations.get(id);
    return record && toConversation(record);
  }

  async updateConversation(owner: string, id: string, metadata: Readonly<Record<string, string>>) {
    const record = this.#owner(owner).conversations.get(id);
    if (record) record.metadata = JSON.stringify(metadata);
    return record && toConversation(record);
  }

  async removeConversation(owner: string, id: string): Promise<boolean> {
    const record = this.#owner(owner);
    const isRemoved = removeConversation(record, id);
    this.#forgetEmpty(owner, record);
    return isRemoved;
  }

  async addConversationItems(owner: string, id: string, items: readonly ConversationItem[]) {
    return addItems(this.#owner(owner), id, items);
  }

  async removeConversationItem(owner: string, id: string, itemId: string): Promise<boolean> {
    return removeItem(this.#owner(owner), id, itemId);
  }

  async getConversationItem(owner: string, id: string, itemId: string) {
    const entry = this.#owner(owner).conversations.get(id)?.entries.get(itemId);
    return entry && (JSON.parse(entry.data) as ConversationItem);
  }

  async listConversationItems(owner: string, id: string, options: ListOptions) {
    return itemPage(this.#owner(owner), id, options);
  }

  async readConversation(owner: string, id: string): Promise<ConversationHistory | undefined> {
    return historyOf(this.#owner(owner), id, this.queue.active);
  }

  async create(response: NewResponse, worker: string, leaseMs: number): Promise<Lease> {
    const owner = this.#owner(response.owner);
    const encoded = encodeNew(response);
    const taken = encoded.input.map((item) => item.id).filter((id) => owner.items.has(id));
    checkNew(encoded, this.queue.responses.has(response.id), taken);
    const { idempotency } = encoded;
    checkKey(encoded, idempotency !== undefined && this.#key(owner, idempotency.key) !== undefined);
    checkPlace(encoded, encoded.conversation && historyOf(owner, encoded.conversation.id, this.queue.active));
    const record = newRecord(encoded, owner, ++this.#serial);
    if (response.status === "in_progress") this.queue.lease(record, worker, leaseMs);
    this.#owners.set(response.owner, owner);
    owner.responses.set(response.id, record);
    if (idempotency) {
      const { key, fingerprint, keepMs } = idempotency;
      owner.keys.set(key, { fingerprint, untilMs: this.queue.now() + keepMs, responseId: response.id });
    }
    for (const item of record.input) owner.items.set(item.id, item);
    this.queue.responses.set(response.id, record);
    this.queue.active.add(record);
    return { responseId: response.id, fence: record.fence };
  }

  async commit(lease: Lease, write: RunWrite): Promise<void> {
    const record = this.#mustHold(lease);
    const encoded = encodeWrite(write);
    const { owner, events, output } = record;
    const items: KnownItem[] = encoded.output.flatMap(({ id, index }) => {
      const sameIndex = output.get(index);
      const sameId = owner.items.get(id);
      const isOwn = sameId !== undefined && "index" in sameId && output.get(sameId.index) === sameId;
      const known = sameId && (isOwn ? sameId : { id, index: undefined, isFrozen: true });
      return [known, sameIndex].filter((item) => item !== undefined);
    });
    checkWrite(
      { id: record.head.id, status: record.head.status, lastSequence: events.length - 1, items },
      encoded,
    );
    this.#apply(record, encoded);
  }

  async resume(lease: Lease): Promise<StoredRun> {
    return toRun(this.#mustHold(lease));
  }

  async expire(beforeMs: number): Promise<number> {
    this.queue.assertOpen();
    const old = [...this.queue.responses.values()].filter(
      ({ endedAtMs }) => (endedAtMs ?? beforeMs) < beforeMs,
    );
    for (const record of old) this.#delete(record);
    return old.length;
  }

  async keepSecret(name: string, offered: string): Promise<string> {
    this.queue.assertOpen();
    const record = this.#secrets.get(name);
    if (record === undefined) this.#secrets.set(name, offered);
    return record ?? offered;
  }

  async check(): Promise<void> {
    this.queue.assertOpen();
  }

  async close(): Promise<void> {
    this.queue.isClosed = true;
  }

  #apply(record: ResponseRecord, { events, output, steps, update, trace }: EncodedWrite): void {
    record.events.push(...events);
    for (const item of output) {
      record.output.set(item.index, item);
      record.owner.items.set(item.id, item);
    }
    record.steps.push(...steps);
    if (trace && !record.trace.some(({ last }) => last === trace.last)) record.trace.push(trace);
    if (update === undefined) return;
    const { error, usage, ...head } = update;
    if (error !== undefined) record.error = error;
    if (usage !== undefined) record.usage = usage;
    record.head = { ...record.head, ...head };
    if (!isTerminal(record.head.status)) return;
    record.endedAtMs = record.head.completedAtMs ?? this.queue.now();
    record.credentials = undefined;
    this.queue.active.delete(record);
    if (addsToConversation(record.head.status)) addResponse(record);
  }

  #mustHold(lease: Lease): ResponseRecord {
    const record = this.queue.held(lease);
    if (record === undefined) throw lostLease(lease);
    return record;
  }

  #find(owner: string, id: string): ResponseRecord | undefined {
    return this.#owner(owner).responses.get(id);
  }

  #key(owner: OwnerRecord, key: string): KeyRecord | undefined {
    const record = owner.keys.get(key);
    return record && record.untilMs > this.queue.now() ? record : undefined;
  }

  #owner(name: string): OwnerRecord {
    this.queue.assertOpen();
    return this.#owners.get(name) ?? newOwner();
  }

  #delete(record: ResponseRecord): void {
    const { owner, head } = record;
    for (const { id } of [...record.input, ...record.output.values()]) owner.items.delete(id);
    owner.responses.delete(head.id);
    if (record.key !== undefined && owner.keys.get(record.key)?.responseId === head.id)
      owner.keys.delete(record.key);
    this.queue.responses.delete(head.id);
    this.queue.active.delete(record);
    this.#forgetEmpty(head.owner, owner);
  }

  #forgetEmpty(name: string, owner: OwnerRecord): void {
    if (owner.responses.size === 0 && owner.conversations.size === 0) this.#owners.delete(name);
  }
}

function isListed(record: ResponseRecord, wanted: ListRunsOptions): boolean {
  const { head, source, threadId } = record;
  const { createdAfterMs = -Infinity, createdBeforeMs = Infinity } = wanted;
  return (
    (wanted.status ?? head.status) === head.status &&
    (wanted.model ?? head.model) === head.model &&
    (wanted.background ?? head.background) === head.background &&
    (wanted.source ?? source) === source &&
    (wanted.thread ?? threadId) === threadId &&
    (!wanted.onlyRoots || isFirst(record)) &&
    head.createdAtMs > createdAfterMs &&
    head.createdAtMs < createdBeforeMs
  );
}

/** Whether it is the oldest of its thread that is kept. */
function isFirst({ head, threadId, owner }: ResponseRecord): boolean {
  if (threadId === head.id) return true;
  const others = [...owner.responses.values()].filter((other) => other.threadId === threadId);
  return !others.some(
    (other) =>
      other.head.id === threadId ||
      other.head.createdAtMs < head.createdAtMs ||
      (other.head.createdAtMs === head.createdAtMs && other.head.id < head.id),
  );
}
