// The queue of the memory store: its jobs are the records that have not ended.

import { storeClosed } from "../rules.ts";
import type { ClaimOptions, Job, Lease, RunQueue } from "../run-queue.ts";
import { afterCrash, type Standing, whenReleased, whenStarted, whenTrusted } from "../standing.ts";
import { hasOlder } from "./memory-conversations.ts";
import { byAge, type ResponseRecord, toResponse } from "./memory-record.ts";

export class MemoryQueue implements RunQueue {
  readonly now: () => number;
  readonly responses = new Map<string, ResponseRecord>();
  /** Those that have not ended. */
  readonly active = new Set<ResponseRecord>();
  isClosed = false;

  constructor(now: () => number) {
    this.now = now;
  }

  async claim(worker: string, options: ClaimOptions): Promise<readonly Job[]> {
    this.assertOpen();
    const { leaseMs, limit, id, suspects, onlyToEnd = false } = options;
    const now = this.now();
    const free = [...this.active].filter(
      (record) =>
        (record.worker === undefined || record.leaseUntilMs <= now) &&
        (id === undefined || record.head.id === id) &&
        (suspects === undefined || isSuspect(record) === (suspects === "only")) &&
        (!onlyToEnd || isToEnd(record)) &&
        this.#isNextInConversation(record),
    );
    return free
      .toSorted(suspects === "only" ? byBlame : byAge)
      .slice(0, limit)
      .map((record) => {
        record.standing = whenStarted(standingOf(record), isSuspect(record));
        this.lease(record, worker, leaseMs);
        const { attempts, suspicion } = record.standing;
        return {
          responseId: record.head.id,
          fence: record.fence,
          response: toResponse(record),
          attempts,
          suspicion,
        };
      });
  }

  async renew(leases: readonly Lease[], leaseMs: number) {
    return leases.flatMap((lease) => {
      const record = this.held(lease);
      if (record === undefined) return [];
      record.leaseUntilMs = this.now() + leaseMs;
      return [{ responseId: lease.responseId, isCancelRequested: record.head.isCancelRequested }];
    });
  }

  async release(lease: Lease, { forgetsAttempt = false } = {}): Promise<void> {
    const record = this.held(lease);
    if (!record) return;
    record.worker = undefined;
    record.standing = whenReleased(record.standing, forgetsAttempt);
  }

  async trust(lease: Lease, { hasProgressed }: { hasProgressed: boolean }): Promise<void> {
    const record = this.held(lease);
    if (record) record.standing = whenTrusted(record.standing, hasProgressed);
  }

  async nextExpiryMs(): Promise<number | undefined> {
    this.assertOpen();
    const leased = [...this.active].filter(({ worker }) => worker !== undefined);
    if (leased.length === 0) return undefined;
    return leased.reduce((first, { leaseUntilMs }) => Math.min(first, leaseUntilMs), Infinity) - this.now();
  }

  async count(owner?: string) {
    this.assertOpen();
    const statuses = [...this.active].flatMap(({ head }) =>
      head.background && (owner ?? head.owner) === head.owner ? [head.status] : [],
    );
    const queued = statuses.filter((status) => status === "queued").length;
    return { queued, running: statuses.length - queued };
  }

  lease(record: ResponseRecord, worker: string, leaseMs: number): void {
    record.worker = worker;
    record.fence += 1;
    record.leaseUntilMs = this.now() + leaseMs;
  }

  /** The response of a lease that is still held. */
  held({ responseId, fence }: Lease): ResponseRecord | undefined {
    this.assertOpen();
    const record = this.responses.get(responseId);
    return record?.fence === fence && record.worker !== undefined ? record : undefined;
  }

  assertOpen(): void {
    if (this.isClosed) throw storeClosed();
  }

  /** Whether no older response of the same conversation is left, or it is only to be cancelled. */
  #isNextInConversation({ owner, head, conversation, serial }: ResponseRecord): boolean {
    if (conversation === undefined || head.isCancelRequested) return true;
    return !hasOlder(this.active, owner, conversation.id, serial);
  }
}

/** The least blamed suspects come first. */
function byBlame(a: ResponseRecord, b: ResponseRecord): number {
  return standingOf(a).attempts - standingOf(b).attempts || byAge(a, b);
}

/** The standing of a response that is free to claim: if it has a worker still, that one died. */
function standingOf({ standing, worker }: ResponseRecord): Standing {
  return worker === undefined ? standing : afterCrash(standing, "unknown");
}

/** Whether a response that is free to claim is to be ended, and not run. */
function isToEnd({ head }: ResponseRecord): boolean {
  return !head.background || head.isCancelRequested;
}

/** Whether it must run alone. One that is only to be cancelled does not run at all. */
function isSuspect(record: ResponseRecord): boolean {
  const { standing, worker } = record;
  return !isToEnd(record) && (standing.suspicion > 0 || worker !== undefined);
}
