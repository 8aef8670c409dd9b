// The queue of runs: which process works on which response. Its fences guard the writes of the store.

import type { StoredResponse } from "./store.ts";

/** The right to run a response and to write to it. */
export interface Lease {
  readonly responseId: string;
  /** Grows with every lease of this response: a write with an older one is refused. */
  readonly fence: number;
}

/** A run that a worker has taken from the queue. */
export interface Job extends Lease {
  readonly response: StoredResponse;
  /** How often it was claimed since it last made progress, this time included; not the claims that other runs ended. */
  readonly attempts: number;
  /** How many processes have died while it was at work, since it last made progress. */
  readonly suspicion: number;
}

export interface ClaimOptions {
  readonly leaseMs: number;
  readonly limit: number;
  /** Only this response. Default: any. */
  readonly id?: string;
  /**
   * `none`: no background run that was at work when a process died. `only`: none but these, the least blamed first;
   * they must run alone, so that they are to blame if the process dies again. Default: all.
   */
  readonly suspects?: "none" | "only";
  /** Only responses that are to be ended and not run: foreground or cancelled ones. Default: any. */
  readonly onlyToEnd?: boolean;
}

/**
 * Leases are timed by the clock of the queue: callers pass durations, and never compare times. All methods take leases
 * of foreground runs too, which `Store.create()` gives without a claim.
 */
export interface RunQueue {
  /**
   * Leases responses that nobody runs to `worker`: queued ones, and those whose lease has expired, oldest first. A
   * response goes to one worker only, however many ask at the same time. One of a conversation is given when no older
   * one of it is left, or when it is to be cancelled. An expired lease counts as the death of its worker.
   */
  claim(worker: string, options: ClaimOptions): Promise<readonly Job[]>;
  /** Extends leases. Returns those still held, with whether they are to be cancelled. */
  renew(
    leases: readonly Lease[],
    leaseMs: number,
  ): Promise<readonly { responseId: string; isCancelRequested: boolean }[]>;
  /**
   * Returns a run to the queue. `forgetsAttempt` if the run is not at fault: the claim then does not count as one of
   * its attempts. Default: it counts.
   */
  release(lease: Lease, options?: { forgetsAttempt?: boolean }): Promise<void>;
  /**
   * Lets other runs work beside this one again. With `hasProgressed` it is no longer a suspect, and its attempts are
   * reset; without, it has only run alone for long enough. Ignored if the lease is lost.
   */
  trust(lease: Lease, options: { hasProgressed: boolean }): Promise<void>;
  /**
   * Whether other processes may have ended the leases of this one before their time, as it has not reached the store for
   * a while. Default: they never do.
   */
  isCutOff?(): boolean;
  /** How long until the first lease expires, unless it is renewed; undefined if none is held. */
  nextExpiryMs(): Promise<number | undefined>;
  /** Background runs, of one owner or of all: how many wait, and how many have begun and not ended. */
  count(owner?: string): Promise<{ readonly queued: number; readonly running: number }>;
}
