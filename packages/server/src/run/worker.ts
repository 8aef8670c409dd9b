// Takes jobs from the queue and runs them: new ones, and those whose process died. News wake it, and the expiry of
// leases; it does not poll.

import { AuditUnavailable } from "../audit/audit-log.ts";
import { jobsTopic } from "../store/news.ts";
import type { Job } from "../store/run-queue.ts";
import { isStoreError } from "../store/store-error.ts";
import { RunStopped } from "./active-runs.ts";
import { failInterrupted, runJob } from "./job.ts";
import { publishFree, type RunParts } from "./run-parts.ts";

export interface WorkerOptions extends RunParts {
  /** How many runs work at once. */
  readonly concurrency: number;
  /** How many times a run is tried without making progress before it fails. */
  readonly maxAttempts: number;
  /** How long a run waits for a model server that is away. Default: 0. */
  readonly modelWaitMs?: number | undefined;
}

/** How long to wait after a failed claim, or for an expired job that could not be claimed. */
const retryClaimMs = 5000;
/** How long a run waits after the store failed before it is tried again. */
const retryRunMs = 2000;
const shortestProbationMs = 10_000;
const longestProbationMs = 3_600_000;
/** How many runs may wait for a model server without a place of their own: each takes memory. */
const maxParked = 1000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Promise<void>>();
  /** How many of these wait, and leave their places to others. */
  #parked = 0;
  /** Runs that waited and want a place again. */
  readonly #returning: (() => void)[] = [];
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  /** Set before the promise above is settled, so that no wake-up in between is lost. */
  #isClaiming = false;
  #mustClaimAgain = false;
  /** Without a start, it only ends jobs that are cancelled here. */
  #isStarted = false;
  #isStopped = false;
  /** The run that works alone, if there is one: no other is begun meanwhile. */
  #onProbation: string | undefined;
  /** Whether suspects may be claimed: only former suspects work here. */
  #isApart = true;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    this.#unsubscribe = this.#options.news.subscribe(jobsTopic, () => this.wake());
    this.#mustClaimAgain = true;
    this.#isClaiming = true;
    this.#claiming = this.#endInterrupted().then(() => this.#claimAll());
  }

  /** Claims jobs, if there are any. */
  wake(): void {
    if (!this.#isStarted) return;
    this.#mustClaimAgain = true;
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    this.#claiming = this.#claimAll();
  }

  /** Claims no more jobs. Those that run continue. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#letReturn();
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    await this.#claiming;
  }

  /** Resolves when no job runs any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Ends a cancelled job that waits in the queue. */
  async cancel(id: string): Promise<void> {
    const { store, workerName, leaseMs } = this.#options;
    const jobs = await store.queue.claim(workerName, { leaseMs, limit: 1, id });
    await Promise.all(jobs.map((job) => this.#begin(job)));
  }

  /**
   * Ends what a dead process left to be ended. That is safe, and conversations wait for it: so before the suspects, each
   * of which may take a while.
   */
  async #endInterrupted(): Promise<void> {
    const { store, workerName, leaseMs, concurrency, observer } = this.#options;
    try {
      const tried = new Set<string>();
      while (!this.#isStopped) {
        const jobs = await store.queue.claim(workerName, { leaseMs, limit: concurrency, onlyToEnd: true });
        // One that cannot be ended comes again. It must not keep all others waiting.
        const isRepeated = jobs.every(({ responseId }) => tried.has(responseId));
        for (const { responseId } of jobs) tried.add(responseId);
        const ended = Promise.all(jobs.map((job) => this.#begin(job)));
        if (isRepeated) return;
        await ended;
      }
    } catch (error) {
      observer.warn("Ending interrupted responses has failed.", { error });
    }
  }

  async #claimAll(): Promise<void> {
    try {
      while (this.#mustClaimAgain && !this.#isStopped) {
        this.#mustClaimAgain = false;
        this.#letReturn();
        const limit = this.#places;
        if (limit <= 0 || this.#onProbation !== undefined) return; // the end of a run claims again
        await this.#claimUpTo(limit);
      }
    } finally {
      this.#isClaiming = false;
    }
  }

  async #claimUpTo(limit: number): Promise<void> {
    const { active, observer } = this.#options;
    try {
      await active.renewIfLate();
      if (!(await this.#claimSuspect())) await this.#claimTrusted(limit);
      await this.#awaitExpiry();
    } catch (error) {
      observer.warn("Looking for background runs has failed.", { error });
      this.#wakeAfter(retryClaimMs);
    }
  }

  /**
   * Begins a run that was at work when a process died, apart from others that it may hurt. Before all others, so that
   * these do not keep it waiting for ever. Returns whether there was one.
   */
  async #claimSuspect(): Promise<boolean> {
    const { store, workerName, leaseMs } = this.#options;
    if (this.#running.size === 0) this.#isApart = true;
    if (!this.#isApart) return false;
    const [job] = await store.queue.claim(workerName, { leaseMs, limit: 1, suspects: "only" });
    if (!job) return false;
    this.#onProbation = job.responseId;
    const timer = setTimeout(() => this.#trust(job, false), probationMs(job.suspicion)).unref();
    void this.#begin(job).finally(() => clearTimeout(timer));
    return true;
  }

  async #claimTrusted(limit: number): Promise<void> {
    const { store, workerName, leaseMs } = this.#options;
    const jobs = await store.queue.claim(workerName, { leaseMs, limit, suspects: "none" });
    if (jobs.length > 0) this.#isApart = false;
    for (const job of jobs) void this.#begin(job);
    if (jobs.length === limit) this.#mustClaimAgain = true;
  }

  /**
   * Claims again when the first lease expires: nobody publishes that. Leases that begin later expire later. `leaseMs` at
   * most: the clock may have been set back.
   */
  async #awaitExpiry(): Promise<void> {
    const { store, leaseMs } = this.#options;
    // Where processes share a store, a run at which several died waits for a moment: sooner than leases expire.
    if ((this.#timer !== undefined && !store.isShared) || this.#mustClaimAgain) return;
    const expiryMs = await store.queue.nextExpiryMs();
    const waitMs =
      expiryMs === undefined ? Infinity : Math.min(expiryMs > 0 ? expiryMs : retryClaimMs, leaseMs);
    this.#wakeAfter(Math.min(waitMs, store.pollMs ?? Infinity));
  }

  #wakeAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (ms === Number.POSITIVE_INFINITY || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.wake();
    }, ms).unref();
  }

  /** How many more runs may work. */
  get #places(): number {
    return this.#options.concurrency - (this.#running.size - this.#parked);
  }

  /** Leaves the place of a run to others while it waits. A run that is stopped needs none to end. */
  async #park(wait: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.#parked >= maxParked) return wait();
    this.#parked += 1;
    this.wake();
    try {
      await wait();
    } catch (error) {
      this.#parked -= 1;
      throw error;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAbort = () => {
      const index = this.#returning.indexOf(resolve);
      if (index < 0) return;
      this.#returning.splice(index, 1);
      this.#parked -= 1;
      resolve();
    };
    this.#returning.push(resolve);
    signal.addEventListener("abort", onAbort);
    this.#letReturn();
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  /** Gives free places to runs that waited, before new ones are claimed. At the end of the process, to all. */
  #letReturn(): void {
    while (this.#returning.length > 0 && (this.#places > 0 || this.#isStopped)) {
      this.#parked -= 1;
      this.#returning.shift()?.();
    }
  }

  /** Lets others work beside a run. */
  #trust(job: Job, hasProgressed: boolean): void {
    // If that fails, the run is at worst blamed for another's crash.
    this.#options.store.queue.trust(job, { hasProgressed }).catch(() => {});
    this.#endProbation(job);
  }

  #endProbation({ responseId }: Job): void {
    if (this.#onProbation !== responseId) return;
    this.#onProbation = undefined;
    this.wake();
  }

  #begin(job: Job): Promise<void> {
    const work = this.#run(job).finally(() => {
      this.#running.delete(work);
      this.#letReturn();
      this.#endProbation(job);
      this.wake();
    });
    this.#running.add(work);
    return work;
  }

  /** Never throws: an error ends the run, or it is tried again later. */
  async #run(job: Job): Promise<void> {
    const { active, news, observer, audit } = this.#options;
    const { responseId, response } = job;
    const { owner, background } = response;
    const resumed = response.status !== "queued";
    const started = audit?.record({ action: "run.started", owner, responseId, background, resumed });
    const noteEnd = (outcome: string) =>
      audit?.record({ action: "run.ended", started, owner, responseId, outcome });
    try {
      if (audit) await audit.settled();
      const work = (signal: AbortSignal) =>
        (background ? runJob : failInterrupted)(job, {
          ...this.#options,
          signal,
          park: (wait) => this.#park(wait, signal),
          onProgress: () => this.#trust(job, true),
        });
      noteEnd(await active.hold(job, work, { canContinue: background }));
    } catch (error) {
      noteEnd("interrupted");
      // Another worker has it, it was deleted, or this process ends: there is nothing left to do here.
      const isOver = error instanceof RunStopped || isStoreError(error, "lost_lease");
      if (!isOver)
        observer.warn("A background run was interrupted; it is tried again.", { responseId, error });
      // Neither the end of this process nor a store or an audit log that fails is the run's fault.
      const isElsewhere = isStoreError(error, "unavailable") || error instanceof AuditUnavailable;
      const forgetsAttempt = isOver || isElsewhere;
      await this.#release(job, isOver ? 0 : retryRunMs, forgetsAttempt);
    } finally {
      news.publish(responseId);
      const { conversation } = response.request;
      publishFree(news, typeof conversation === "string" ? conversation : undefined);
    }
  }

  /** Returns a job to the queue, after a while. If the store fails again, the lease expires in the end. */
  async #release(job: Job, waitMs: number, forgetsAttempt: boolean): Promise<void> {
    const { store, news, leaseMs } = this.#options;
    for (let left = leaseMs; ; left -= retryRunMs) {
      const isLast = left <= 0 || this.#isStopped;
      if (waitMs > 0 && !isLast) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      const isReleased = await store.queue.release(job, { forgetsAttempt }).then(
        () => true,
        () => false,
      );
      if (isReleased) news.publish(jobsTopic);
      if (isReleased || isLast || waitMs === 0) return;
    }
  }
}

/** How long a suspect works alone. Longer each time: what ends the process may come late. */
export function probationMs(suspicion: number): number {
  return Math.min(shortestProbationMs * 4 ** (suspicion - 1), longestProbationMs);
}
