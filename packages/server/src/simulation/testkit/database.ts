// The one database of all nodes: the reference store, with what a shared database adds (it goes down, it notices the end
// of a session), a record of everything it accepted, and the planted faults.

import { turnId } from "../../engine/turn-id.ts";
import { isTerminal } from "../../protocol/status.ts";
import type { Job, Lease } from "../../store/run-queue.ts";
import type { NewResponse, RunWrite, Store, StoredEvent, StoredRun } from "../../store/store.ts";
import { isStoreError, StoreError } from "../../store/store-error.ts";
import { memoryStore } from "../../store/testkit/memory.ts";
import type { MemoryQueue } from "../../store/testkit/memory-queue.ts";
import type { ResponseRecord } from "../../store/testkit/memory-record.ts";
import type { StoreMethod } from "../../store/testkit/store-around.ts";
import type { History, ResponseFacts } from "./history.ts";
import type { PlantedFault } from "./planted-faults.ts";
import type { World } from "./world.ts";

/** A process as the database sees it. */
export interface Session {
  readonly name: string;
  readonly skewMs: number;
  /** The names under which it took leases. */
  readonly workers: Set<string>;
}

export class Database {
  readonly store: Store;
  isDown = false;
  readonly #world: World;
  readonly #history: History;
  readonly #faults: ReadonlySet<PlantedFault>;
  #serial = 0;
  /** The clock of whoever asks, for a planted fault. */
  #askerSkewMs = 0;

  constructor(world: World, history: History, faults: ReadonlySet<PlantedFault>) {
    this.#world = world;
    this.#history = history;
    this.#faults = faults;
    this.store = memoryStore({ now: () => world.nowMs + this.#askerSkewMs });
  }

  get #queue(): MemoryQueue {
    return this.store.queue as MemoryQueue;
  }

  /** Responses that have not ended. */
  get activeCount(): number {
    return this.#queue.active.size;
  }

  /** Does what a node asks for, in one transaction. */
  async apply(
    session: Session,
    method: StoreMethod,
    call: () => Promise<unknown>,
    args: readonly unknown[],
  ): Promise<unknown> {
    if (this.#faults.has("lease timed by the node")) this.#askerSkewMs = session.skewMs;
    try {
      const result = await this.#applyWithFaults(session, method, call, args);
      this.#record(session, method, args, result);
      return result;
    } catch (error) {
      if (isStoreError(error, "lost_lease")) this.#history.figures.refusedWrites += 1;
      throw error;
    } finally {
      this.#askerSkewMs = 0;
    }
  }

  /** The connections of a process ended: its leases are free at once. */
  endSession({ workers, name }: Session): void {
    if (this.#faults.has("dead lease kept")) {
      for (const record of this.#queue.active)
        if (record.worker !== undefined && workers.has(record.worker)) record.leaseUntilMs = Infinity;
      return;
    }
    for (const record of this.#queue.active) {
      if (record.worker === undefined || !workers.has(record.worker)) continue;
      record.leaseUntilMs = 0;
      // The first deaths of nodes are nobody's fault, so that their runs need not work alone.
      const { standing } = record;
      if (standing.suspicion === 0)
        record.standing = { ...standing, attempts: Math.max(0, standing.attempts - 1) };
      record.worker = undefined;
      const last = this.#history.responses.get(record.head.id)?.leases.at(-1);
      if (last?.life === name) last.untilMs = this.#world.nowMs;
    }
  }

  /** Enqueues what was only kept, for a planted fault. */
  enqueueLate(id: string): void {
    const record = this.#queue.responses.get(id);
    if (record && !isTerminal(record.head.status)) this.#queue.active.add(record);
  }

  #applyWithFaults(
    session: Session,
    method: StoreMethod,
    call: () => Promise<unknown>,
    args: readonly unknown[],
  ): Promise<unknown> {
    const has = (fault: PlantedFault) => this.#faults.has(fault);
    if (method === "commit" && has("fence ignored"))
      return this.store.commit(this.#withNewestFence(args[0] as Lease), args[1] as RunWrite);
    if (method === "renew" && has("lease renewed after loss"))
      return this.store.queue.renew(
        (args[0] as Lease[]).map((lease) => this.#withNewestFence(lease)),
        args[1] as number,
      );
    if (method === "resume" && has("finished call forgotten")) return forgetCalls(call());
    if (method === "events" && has("follower skips a gap")) return skipOne(call(), args[2] as number);
    if (method === "claim" && has("job given twice")) return this.#claimTwice(session, call, args);
    if ((method === "create" || method === "claim") && has("conversation lock not taken"))
      return this.#withoutConversations(method, call, args);
    if (method === "create" && has("job outside of the transaction")) return this.#createOnly(call, args);
    return call();
  }

  #withNewestFence(lease: Lease): Lease {
    const record = this.#queue.responses.get(lease.responseId);
    return record ? { ...lease, fence: record.fence } : lease;
  }

  async #claimTwice(session: Session, call: () => Promise<unknown>, args: readonly unknown[]) {
    const jobs = (await call()) as Job[];
    const { id } = args[1] as { id?: string };
    if (jobs.length > 0 || id !== undefined) return jobs;
    const taken = [...this.#queue.active].find(
      ({ worker, head }) => head.background && worker !== undefined && !session.workers.has(worker),
    );
    const response = taken && (await this.store.get(taken.head.owner, taken.head.id));
    return taken && response
      ? [{ responseId: taken.head.id, fence: taken.fence, response, attempts: 1, suspicion: 0 }]
      : [];
  }

  /** Makes the call as if no response belonged to a conversation. */
  async #withoutConversations(method: StoreMethod, call: () => Promise<unknown>, args: readonly unknown[]) {
    const hidden = [...this.#queue.active].filter(({ conversation }) => conversation !== undefined);
    if (method === "create") {
      for (const record of hidden) this.#queue.active.delete(record);
      const { conversation, ...rest } = args[0] as NewResponse;
      const { version: _, ...place } = conversation ?? { id: "", mustBeFree: false };
      const create = this.store.create(
        { ...rest, ...(conversation && { conversation: place }) },
        args[1] as string,
        args[2] as number,
      );
      for (const record of hidden) this.#queue.active.add(record);
      return create;
    }
    const places = hidden.map((record) => [record, record.conversation] as const);
    const set = (record: ResponseRecord, place: ResponseRecord["conversation"]) =>
      Object.assign(record, { conversation: place });
    for (const [record] of places) set(record, undefined);
    const claimed = call();
    for (const [record, place] of places) set(record, place);
    return claimed;
  }

  async #createOnly(call: () => Promise<unknown>, args: readonly unknown[]) {
    const lease = await call();
    const { id, status } = args[0] as NewResponse;
    const record = this.#queue.responses.get(id);
    if (status === "queued" && record) this.#queue.active.delete(record);
    return lease;
  }

  #record(session: Session, method: StoreMethod, args: readonly unknown[], result: unknown): void {
    const { nowMs } = this.#world;
    const known = (id: string) => this.#history.responses.get(id);
    switch (method) {
      case "create": {
        const response = args[0] as NewResponse;
        const facts = newFacts(response, ++this.#serial);
        this.#history.responses.set(response.id, facts);
        this.#history.note(nowMs, `${session.name} creates ${response.id.slice(0, 12)} (${response.status})`);
        if (response.status === "in_progress")
          this.#grant(session, facts, result as Lease, args[2] as number);
        return;
      }
      case "claim":
        for (const job of result as Job[]) {
          const facts = known(job.responseId);
          if (facts) this.#grant(session, facts, job, (args[1] as { leaseMs: number }).leaseMs);
        }
        return;
      case "renew":
        for (const { responseId } of result as { responseId: string }[])
          this.#renew(known(responseId), args[0] as Lease[], args[1] as number);
        return;
      case "release": {
        const { responseId, fence } = args[0] as Lease;
        const lease = known(responseId)?.leases.at(-1);
        if (lease?.fence === fence) lease.untilMs = nowMs;
        return;
      }
      case "commit":
        this.#commit(known((args[0] as Lease).responseId), args[0] as Lease, args[1] as RunWrite);
        return;
      case "remove": {
        const facts = known(args[1] as string);
        if (facts && result === true) facts.isRemoved = true;
        return;
      }
      case "requestCancel": {
        const facts = known(args[1] as string);
        if (facts && facts.endedAtMs === undefined) facts.cancelledAtMs ??= nowMs;
        return;
      }
      default:
    }
  }

  #grant(session: Session, facts: ResponseFacts, { fence }: Lease, leaseMs: number): void {
    const { nowMs } = this.#world;
    const last = facts.leases.at(-1);
    if (last && last.untilMs > nowMs)
      this.#flaw(
        `${facts.id} was leased to ${session.name} while ${last.life} held it for ${last.untilMs - nowMs} ms more`,
      );
    if (last && fence <= last.fence)
      this.#flaw(`${facts.id} was leased with the fence ${fence} after ${last.fence}`);
    if (last && last.life !== session.name) this.#history.figures.takeOvers += 1;
    facts.leases.push({
      fence,
      life: session.name,
      atMs: nowMs,
      untilMs: nowMs + leaseMs,
      longestMs: nowMs + leaseMs,
    });
    this.#history.note(nowMs, `${session.name} leases ${facts.id.slice(0, 12)} with the fence ${fence}`);
  }

  #renew(facts: ResponseFacts | undefined, leases: readonly Lease[], leaseMs: number): void {
    const lease = leases.find(({ responseId }) => responseId === facts?.id);
    const last = facts?.leases.at(-1);
    if (!facts || !lease || !last) return;
    if (lease.fence !== last.fence)
      this.#flaw(`${facts.id}: the lease ${lease.fence} was renewed, but ${last.fence} is the newest`);
    last.untilMs = this.#world.nowMs + leaseMs;
    last.longestMs = last.untilMs;
  }

  #commit(facts: ResponseFacts | undefined, { fence }: Lease, write: RunWrite): void {
    if (!facts) return;
    const { nowMs } = this.#world;
    const newest = facts.leases.at(-1)?.fence;
    if (fence !== newest)
      this.#flaw(`${facts.id}: a write with the fence ${fence} was accepted, but ${newest} is the newest`);
    for (const { data } of write.events ?? []) facts.log.push(data);
    for (const step of write.steps ?? []) {
      if (step["type"] === "answer") facts.answer = step["answer"] as number;
      if (step["type"] !== "call.finished") continue;
      const key = turnId(facts.id, facts.answer, step["callId"] as string);
      if (!facts.finishedCalls.has(key)) facts.finishedCalls.set(key, nowMs);
    }
    const { update } = write;
    if (update?.status === undefined) return;
    facts.status = update.status;
    if (!isTerminal(update.status)) return;
    facts.errorCode = update.error?.code;
    facts.endedAtMs = nowMs;
    this.#history.note(nowMs, `${facts.id.slice(0, 12)} is ${update.status} ${facts.errorCode ?? ""}`);
  }

  #flaw(text: string): void {
    this.#history.note(this.#world.nowMs, `FLAW ${text}`);
    this.#history.flaws.push(text);
  }
}

function newFacts(response: NewResponse, serial: number): ResponseFacts {
  return {
    id: response.id,
    isBackground: response.background,
    conversation: response.conversation?.id,
    previous: response.previousResponseId ?? undefined,
    serial,
    input: response.input,
    log: response.events.map(({ data }) => data),
    leases: [],
    status: response.status,
    errorCode: undefined,
    isRemoved: false,
    cancelledAtMs: undefined,
    endedAtMs: undefined,
    answer: -1,
    finishedCalls: new Map(),
  };
}

async function forgetCalls(found: Promise<unknown>): Promise<StoredRun> {
  const run = (await found) as StoredRun;
  const isKept = (type: unknown) => type !== "call.started" && type !== "call.finished";
  return { ...run, steps: run.steps.filter((step) => isKept(step["type"])) };
}

async function skipOne(found: Promise<unknown>, after: number): Promise<readonly StoredEvent[]> {
  const events = (await found) as readonly StoredEvent[];
  return after >= 0 && events.length > 1 ? events.slice(1) : events;
}

/** The database cannot be reached, or the outcome of a call is not known. */
export function unavailable(why: string): StoreError {
  return new StoreError("unavailable", `The database cannot be reached: ${why}. Try again.`);
}
