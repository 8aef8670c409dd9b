// A store in the memory of the process: for trying things out, and for tests. It forgets everything at the end.

import type { InputItem, OutputItem } from "../protocol/items.ts";
import { isTerminal } from "../protocol/status.ts";
import {
  addsToConversation,
  type ConversationHistory,
  type ConversationItem,
  type NewConversation,
  type StoredConversation,
} from "./conversation-store.ts";
import { type EncodedWrite, encodeNew, encodeWrite } from "./encode.ts";
import {
  addConversation,
  addItems,
  addResponse,
  hasOlder,
  historyOf,
  itemPage,
  removeConversation,
  removeItem,
  toConversation,
} from "./memory-conversations.ts";
import {
  byAge,
  byBlame,
  isSuspect,
  isToEnd,
  type Kept,
  type KeptKey,
  newKept,
  newOwner,
  type Owner,
  standingOf,
  toLink,
  toOutput,
  toResponse,
  toRun,
} from "./memory-record.ts";
import { pageOf } from "./page.ts";
import {
  checkKey,
  checkNew,
  checkPlace,
  checkWrite,
  type KnownItem,
  lostLease,
  storeClosed,
} from "./rules.ts";
import { whenReleased, whenStarted, whenTrusted } from "./standing.ts";
import type {
  Chain,
  ChainLink,
  Claim,
  ClaimOptions,
  Lease,
  ListOptions,
  ListResponsesOptions,
  NewResponse,
  RunWrite,
  Store,
  StoredEvent,
  StoredOutput,
  StoredResponse,
  StoredRun,
} from "./store.ts";

export interface MemoryStoreOptions {
  /** The clock of the leases, in milliseconds. Default: `Date.now`. */
  now?: () => number;
}

/** A store that lives as long as the process. */
export function memoryStore({ now = Date.now }: MemoryStoreOptions = {}): Store {
  return new MemoryStore(now);
}

class MemoryStore implements Store {
  readonly #now: () => number;
  readonly #owners = new Map<string, Owner>();
  readonly #responses = new Map<string, Kept>();
  /** Those that are not over. */
  readonly #active = new Set<Kept>();
  readonly #secrets = new Map<string, string>();
  #serial = 0;
  #isClosed = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  async get(owner: string, id: string): Promise<StoredResponse | undefined> {
    const kept = this.#find(owner, id);
    return kept && toResponse(kept);
  }

  async output(owner: string, id: string): Promise<readonly StoredOutput[]> {
    const kept = this.#find(owner, id);
    return kept ? toOutput(kept) : [];
  }

  async list(owner: string, options: ListResponsesOptions) {
    const all = [...this.#owner(owner).responses.values()].toSorted(byAge);
    const { status, model, background } = options;
    const page = pageOf(all, options, {
      idOf: (kept) => kept.head.id,
      isMatch: ({ head }) =>
        (status === undefined || head.status === status) &&
        (model === undefined || head.model === model) &&
        (background === undefined || head.background === background),
    });
    return { data: page.data.map(toResponse), hasMore: page.hasMore };
  }

  async input(owner: string, id: string, options: ListOptions) {
    const page = pageOf(this.#find(owner, id)?.input ?? [], options, { idOf: (item) => item.id });
    return { data: page.data.map((item) => JSON.parse(item.data) as InputItem), hasMore: page.hasMore };
  }

  async chain(owner: string, id: string): Promise<Chain> {
    const links: ChainLink[] = [];
    let serial = Number.POSITIVE_INFINITY;
    for (let next: string | null = id; next !== null; ) {
      const kept = this.#find(owner, next);
      if (kept === undefined || kept.serial >= serial) return { links: [], missing: next };
      links.push(toLink(kept));
      serial = kept.serial;
      next = kept.head.previousResponseId;
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
    const kept = this.#key(this.#owner(owner), key);
    return kept && { responseId: kept.responseId, fingerprint: kept.fingerprint };
  }

  async remove(owner: string, id: string): Promise<boolean> {
    const kept = this.#find(owner, id);
    if (kept) this.#delete(kept);
    return kept !== undefined;
  }

  async requestCancel(owner: string, id: string): Promise<StoredResponse | undefined> {
    const kept = this.#find(owner, id);
    if (kept && !isTerminal(kept.head.status)) kept.head = { ...kept.head, isCancelRequested: true };
    return kept && toResponse(kept);
  }

  async createConversation(conversation: NewConversation): Promise<void> {
    const owner = this.#owner(conversation.owner);
    addConversation(owner, conversation);
    this.#owners.set(conversation.owner, owner);
  }

  async getConversation(owner: string, id: string): Promise<StoredConversation | undefined> {
    const kept = this.#owner(owner).conversations.get(id);
    return kept && toConversation(kept);
  }

  async updateConversation(owner: string, id: string, metadata: Readonly<Record<string, string>>) {
    const kept = this.#owner(owner).conversations.get(id);
    if (kept) kept.metadata = JSON.stringify(metadata);
    return kept && toConversation(kept);
  }

  async removeConversation(owner: string, id: string): Promise<boolean> {
    const kept = this.#owner(owner);
    const isRemoved = removeConversation(kept, id);
    this.#forgetEmpty(owner, kept);
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
    return historyOf(this.#owner(owner), id, this.#active);
  }

  async create(response: NewResponse, worker: string, leaseMs: number): Promise<Lease> {
    const owner = this.#owner(response.owner);
    const encoded = encodeNew(response);
    const taken = encoded.input.map((item) => item.id).filter((id) => owner.items.has(id));
    checkNew(encoded, this.#responses.has(response.id), taken);
    const { idempotency } = encoded;
    checkKey(encoded, idempotency !== undefined && this.#key(owner, idempotency.key) !== undefined);
    checkPlace(encoded, encoded.conversation && historyOf(owner, encoded.conversation.id, this.#active));
    const kept = newKept(encoded, owner, ++this.#serial);
    if (response.status === "in_progress") this.#lease(kept, worker, leaseMs);
    this.#owners.set(response.owner, owner);
    owner.responses.set(response.id, kept);
    if (idempotency) owner.keys.set(idempotency.key, { ...idempotency, responseId: response.id });
    for (const item of kept.input) owner.items.set(item.id, item);
    this.#responses.set(response.id, kept);
    this.#active.add(kept);
    return { responseId: response.id, fence: kept.fence };
  }

  async claim(worker: string, options: ClaimOptions): Promise<readonly Claim[]> {
    this.#assertOpen();
    const { leaseMs, limit, id, suspects, onlyToEnd = false } = options;
    const now = this.#now();
    const free = [...this.#active].filter(
      (kept) =>
        (kept.worker === undefined || kept.leaseUntilMs <= now) &&
        (id === undefined || kept.head.id === id) &&
        (suspects === undefined || isSuspect(kept) === (suspects === "only")) &&
        (!onlyToEnd || isToEnd(kept)) &&
        this.#isItsTurn(kept),
    );
    return free
      .toSorted(suspects === "only" ? byBlame : byAge)
      .slice(0, limit)
      .map((kept) => {
        const worksApart = isSuspect(kept);
        kept.standing = whenStarted(standingOf(kept), worksApart);
        this.#lease(kept, worker, leaseMs);
        return {
          responseId: kept.head.id,
          fence: kept.fence,
          response: toResponse(kept),
          attempts: kept.standing.attempts,
          suspicion: kept.standing.suspicion,
        };
      });
  }

  async trust(lease: Lease, { hasProgressed }: { hasProgressed: boolean }): Promise<void> {
    this.#assertOpen();
    const kept = this.#held(lease);
    if (kept) kept.standing = whenTrusted(kept.standing, hasProgressed);
  }

  async renew(leases: readonly Lease[], leaseMs: number) {
    this.#assertOpen();
    return leases.flatMap((lease) => {
      const kept = this.#held(lease);
      if (kept === undefined) return [];
      kept.leaseUntilMs = this.#now() + leaseMs;
      return [{ responseId: lease.responseId, isCancelRequested: kept.head.isCancelRequested }];
    });
  }

  async release(lease: Lease, { forgetsAttempt = false } = {}): Promise<void> {
    this.#assertOpen();
    const kept = this.#held(lease);
    if (!kept) return;
    kept.worker = undefined;
    kept.standing = whenReleased(kept.standing, forgetsAttempt);
  }

  async commit(lease: Lease, write: RunWrite): Promise<void> {
    const kept = this.#mustHold(lease);
    const encoded = encodeWrite(write);
    const { owner, events, output } = kept;
    const items: KnownItem[] = encoded.output.flatMap(({ id, index }) => {
      const sameIndex = output.get(index);
      const sameId = owner.items.get(id);
      const isOwn = sameId !== undefined && "index" in sameId && output.get(sameId.index) === sameId;
      const known = sameId && (isOwn ? sameId : { id, index: undefined, isFrozen: true });
      return [known, sameIndex].filter((item) => item !== undefined);
    });
    checkWrite(
      { id: kept.head.id, status: kept.head.status, lastSequence: events.length - 1, items },
      encoded,
    );
    this.#apply(kept, encoded);
  }

  async resume(lease: Lease): Promise<StoredRun> {
    return toRun(this.#mustHold(lease));
  }

  async countBackground(owner?: string) {
    this.#assertOpen();
    const statuses = [...this.#active].flatMap(({ head }) =>
      head.background && (owner ?? head.owner) === head.owner ? [head.status] : [],
    );
    const queued = statuses.filter((status) => status === "queued").length;
    return { queued, running: statuses.length - queued };
  }

  async expire(beforeMs: number): Promise<number> {
    this.#assertOpen();
    const old = [...this.#responses.values()].filter(({ endedAtMs }) => (endedAtMs ?? beforeMs) < beforeMs);
    for (const kept of old) this.#delete(kept);
    return old.length;
  }

  async keepSecret(name: string, offered: string): Promise<string> {
    this.#assertOpen();
    const kept = this.#secrets.get(name);
    if (kept === undefined) this.#secrets.set(name, offered);
    return kept ?? offered;
  }

  async check(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #apply(kept: Kept, { events, output, steps, update }: EncodedWrite): void {
    kept.events.push(...events);
    for (const item of output) {
      kept.output.set(item.index, item);
      kept.owner.items.set(item.id, item);
    }
    kept.steps.push(...steps);
    if (update === undefined) return;
    const { error, usage, ...head } = update;
    if (error !== undefined) kept.error = error;
    if (usage !== undefined) kept.usage = usage;
    kept.head = { ...kept.head, ...head };
    if (!isTerminal(kept.head.status)) return;
    kept.endedAtMs = kept.head.completedAtMs ?? this.#now();
    kept.credentials = undefined;
    this.#active.delete(kept);
    if (addsToConversation(kept.head.status)) addResponse(kept);
  }

  #lease(kept: Kept, worker: string, leaseMs: number): void {
    kept.worker = worker;
    kept.fence += 1;
    kept.leaseUntilMs = this.#now() + leaseMs;
  }

  /** Whether no older response of the same conversation is left, or it is only to be cancelled. */
  #isItsTurn({ owner, head, conversation, serial }: Kept): boolean {
    if (conversation === undefined || head.isCancelRequested) return true;
    return !hasOlder(this.#active, owner, conversation.id, serial);
  }

  #held({ responseId, fence }: Lease): Kept | undefined {
    const kept = this.#responses.get(responseId);
    return kept?.fence === fence && kept.worker !== undefined ? kept : undefined;
  }

  #mustHold(lease: Lease): Kept {
    this.#assertOpen();
    const kept = this.#held(lease);
    if (kept === undefined) throw lostLease(lease);
    return kept;
  }

  #find(owner: string, id: string): Kept | undefined {
    return this.#owner(owner).responses.get(id);
  }

  #key(owner: Owner, key: string): KeptKey | undefined {
    const kept = owner.keys.get(key);
    return kept && kept.untilMs > this.#now() ? kept : undefined;
  }

  #owner(name: string): Owner {
    this.#assertOpen();
    return this.#owners.get(name) ?? newOwner();
  }

  #delete(kept: Kept): void {
    const { owner, head } = kept;
    for (const { id } of [...kept.input, ...kept.output.values()]) owner.items.delete(id);
    owner.responses.delete(head.id);
    if (kept.key !== undefined && owner.keys.get(kept.key)?.responseId === head.id)
      owner.keys.delete(kept.key);
    this.#responses.delete(head.id);
    this.#active.delete(kept);
    this.#forgetEmpty(head.owner, owner);
  }

  #forgetEmpty(name: string, owner: Owner): void {
    if (owner.responses.size === 0 && owner.conversations.size === 0) this.#owners.delete(name);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }
}
