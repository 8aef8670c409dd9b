// The runs of this process: renews their leases, and stops those that were cancelled or lost.

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

export class ActiveRuns {
  readonly #queue: RunQueue;
  readonly #leaseMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #runs = new Map<string, HeldRun>();
  #timer: NodeJS.Timeout | undefined;
  #renewedAtMs = 0;

  constructor(queue: RunQueue, leaseMs: number, onError: (error: unknown) => void) {
    this.#queue = queue;
    this.#leaseMs = leaseMs;
    this.#onError = onError;
  }

  /** Runs `work` with a signal that is aborted by `stop()`, or when the lease is lost. */
  async hold<T>(lease: Lease, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#runs.set(lease.responseId, { lease, controller, ended });
    if (this.#timer === undefined) this.#renewedAtMs = performance.now();
    this.#timer ??= setInterval(() => void this.#renew(), this.#leaseMs / 3).unref();
    try {
      return await inRun(lease.responseId, () => work(controller.signal));
    } finally {
      this.#runs.delete(lease.responseId);
      resolve();
      if (this.#runs.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
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
    const isLate = performance.now() - this.#renewedAtMs > this.#leaseMs / 2;
    if (this.#runs.size > 0 && isLate) await this.#renew();
  }

  async #renew(): Promise<void> {
    const runs = [...this.#runs.values()];
    this.#renewedAtMs = performance.now();
    try {
      const held = await this.#queue.renew(
        runs.map(({ lease }) => lease),
        this.#leaseMs,
      );
      const byId = new Map(held.map((lease) => [lease.responseId, lease]));
      for (const { lease, controller } of runs) {
        const found = byId.get(lease.responseId);
        if (!found) controller.abort(new RunStopped("lost"));
        else if (found.isCancelRequested) controller.abort(new RunStopped("cancelled"));
      }
    } catch (error) {
      // The next renewal may succeed; if not, the fence refuses the run's next write.
      this.#onError(error);
    }
  }
}
