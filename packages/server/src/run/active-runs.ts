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
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export interface ActiveRunsOptions {
  readonly queue: RunQueue;
  readonly news: News;
  readonly leaseMs: number;
  /** Called when leases could not be renewed. */
  readonly onError: (error: unknown) => void;
}

export class ActiveRuns {
  readonly #options: ActiveRunsOptions;
  readonly #runs = new Map<string, HeldRun>();
  /** Ends the heartbeat of the leases, which begins with the first run. */
  #stopHeartbeat: (() => void) | undefined;
  #renewedAtMs = 0;

  constructor(options: ActiveRunsOptions) {
    this.#options = options;
  }

  /** Runs `work` with a signal that is aborted by `stop()`, or when the lease is lost. */
  async hold<T>(lease: Lease, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const held = { lease, controller, ended };
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

  /** Resolves when no run is left. */
  async idle(): Promise<void> {
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
    const unsubscribe = this.#options.news.subscribe(cancelsTopic, renew);
    this.#renewedAtMs = performance.now();
    return () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  async #renew(): Promise<void> {
    const { queue, leaseMs, onError } = this.#options;
    const runs = [...this.#runs.values()];
    this.#renewedAtMs = performance.now();
    try {
      const held = await queue.renew(
        runs.map(({ lease }) => lease),
        leaseMs,
      );
      const byId = new Map(held.map((lease) => [lease.responseId, lease]));
      for (const { lease, controller } of runs) {
        const found = byId.get(lease.responseId);
        if (!found) controller.abort(new RunStopped("lost"));
        else if (found.isCancelRequested) controller.abort(new RunStopped("cancelled"));
      }
    } catch (error) {
      // The next renewal may succeed; if not, the fence refuses the run's next write.
      onError(error);
    }
  }
}
