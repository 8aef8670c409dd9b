// The runs of this process: renews their leases, and stops those that were cancelled or lost.

import { cancelsTopic, type News } from "../store/news.ts";
import type { Lease, RunQueue } from "../store/run-queue.ts";
import { inRun } from "./current-run.ts";

/** Why a run is stopped from outside. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";
  readonly why: "cancelled" | "removed" | "lost" | "shutdown";

  constructor(why: RunStopped["why"]) {
    super(`The run was stopped: ${why}.`);
    this.why = why;
  }
}

interface HeldRun {
  readonly lease: Lease;
  /** Until when the lease lasts for certain, by the clock of this process. */
  heldUntilMs: number;
  readonly controller: AbortController;
  /** Whether another process can continue it. */
  readonly canContinue: boolean;
  readonly ended: Promise<void>;
}

export interface ActiveRunsOptions {
  readonly queue: RunQueue;
  readonly news: News;
  readonly leaseMs: number;
  /** Called when leases could not be renewed. */
  readonly onError: (error: unknown) => void;
}

/** How long a process that was frozen may take to find out whether its leases are still held. */
const longestDoubtMs = 2000;
/** How often it is asked whether this process is cut off from the store. */
const cutOffCheckMs = 1000;

export class ActiveRuns {
  readonly #options: ActiveRunsOptions;
  readonly #runs = new Map<string, HeldRun>();
  /** Ends the heartbeat of the leases, which begins with the first run. */
  #stopHeartbeat: (() => void) | undefined;
  #renewedAtMs = 0;
  #wasCutOff = false;

  constructor(options: ActiveRunsOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` with a signal that is aborted by `stop()`, or when the lease is lost. `canContinue`: whether another
   * process can continue it.
   */
  async hold<T>(
    lease: Lease,
    work: (signal: AbortSignal) => Promise<T>,
    { canContinue = false } = {},
  ): Promise<T> {
    const controller = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const heldUntilMs = performance.now() + this.#options.leaseMs;
    const held: HeldRun = { lease, heldUntilMs, controller, canContinue, ended };
    // A lease that could not be renewed in time may have come back to this process, while its run still works.
    this.#runs.get(lease.responseId)?.controller.abort(new RunStopped("lost"));
    this.#runs.set(lease.responseId, held);
    this.#stopHeartbeat ??= this.#startHeartbeat();
    try {
      return await inRun(lease.responseId, () => work(controller.signal));
    } finally {
      if (this.#runs.get(lease.responseId) === held) this.#runs.delete(lease.responseId);
      resolve();
      if (this.#runs.size === 0) {
        this.#stopHeartbeat?.();
        this.#stopHeartbeat = undefined;
      }
    }
  }

  /** Stops a run of this process and waits for its end. Returns whether there was one. */
  async stop(id: string, why: RunStopped["why"]): Promise<boolean> {
    const run = this.#runs.get(id);
    if (!run) return false;
    run.controller.abort(new RunStopped(why));
    await run.ended;
    return true;
  }

  /** Stops all runs and waits for their ends. */
  async stopAll(why: RunStopped["why"]): Promise<void> {
    await Promise.all(Array.from(this.#runs.keys(), (id) => this.stop(id, why)));
  }

  /** Stops the runs that another process can continue, and waits for their ends. */
  async handOver(): Promise<void> {
    const runs = [...this.#runs].filter(([, { canContinue }]) => canContinue);
    await Promise.all(runs.map(([id]) => this.stop(id, "shutdown")));
  }

  /** Resolves when no run is left, and after `ms` at the latest. */
  async idleWithin(ms: number): Promise<void> {
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([this.#idle(), timeout]);
    clearTimeout(timer);
  }

  async #idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(Array.from(this.#runs.values(), ({ ended }) => ended));
  }

  /** Renews leases that may have expired while this process was blocked: they would look like a dead worker's. */
  async renewIfLate(): Promise<void> {
    const isLate = performance.now() - this.#renewedAtMs > this.#options.leaseMs / 2;
    if (this.#runs.size > 0 && isLate) await this.#renew();
  }

  #startHeartbeat(): () => void {
    const renew = () => void this.#renew();
    const timer = setInterval(renew, this.#options.leaseMs / 3).unref();
    const cutOffTimer = setInterval(() => this.#checkCutOff(), cutOffCheckMs).unref();
    const unsubscribe = this.#options.news.subscribe(cancelsTopic, renew);
    this.#renewedAtMs = performance.now();
    return () => {
      clearInterval(timer);
      clearInterval(cutOffTimer);
      unsubscribe();
    };
  }

  /**
   * Stops the runs of which nobody knows any more whether they are held: the store does not answer, so that another
   * process may continue them. Their tools must not work at the same time.
   */
  #stopDoubtful(runs: readonly HeldRun[]): void {
    const now = performance.now();
    for (const run of runs)
      if (run.heldUntilMs <= now && this.#runs.get(run.lease.responseId) === run)
        run.controller.abort(new RunStopped("lost"));
  }

  /**
   * Stops the runs that others may continue by now. Not at the first sight: a process that was blocked for a moment has
   * yet to hear from the store.
   */
  #checkCutOff(): void {
    const isCutOff = this.#options.queue.isCutOff?.() ?? false;
    if (isCutOff && this.#wasCutOff)
      for (const { canContinue, controller } of this.#runs.values())
        if (canContinue) controller.abort(new RunStopped("lost"));
    this.#wasCutOff = isCutOff;
  }

  async #renew(): Promise<void> {
    const { queue, leaseMs, onError } = this.#options;
    const runs = [...this.#runs.values()];
    const askedAtMs = performance.now();
    this.#renewedAtMs = askedAtMs;
    const firstEndMs = runs.reduce((first, { heldUntilMs }) => Math.min(first, heldUntilMs), Infinity);
    const doubtMs = Math.max(longestDoubtMs, firstEndMs - askedAtMs);
    if (runs.length > 0) setTimeout(() => this.#stopDoubtful(runs), doubtMs).unref();
    try {
      const held = await queue.renew(
        runs.map(({ lease }) => lease),
        leaseMs,
      );
      const byId = new Map(held.map((lease) => [lease.responseId, lease]));
      for (const run of runs) {
        const found = byId.get(run.lease.responseId);
        if (found) run.heldUntilMs = askedAtMs + leaseMs;
        if (!found) run.controller.abort(new RunStopped("lost"));
        else if (found.isCancelRequested) run.controller.abort(new RunStopped("cancelled"));
      }
    } catch (error) {
      // The next renewal may succeed.
      onError(error);
    }
  }
}
