// Runs background responses: takes what nobody runs, goes on where another has left it, and gives it back.

import type { LoopEvent } from "rondo";
import { toApiError } from "../engine/failure.ts";
import { Journal } from "../engine/journal.ts";
import { type ResponsePresenter, storedParts } from "../engine/present.ts";
import { readProgress } from "../engine/resume.ts";
import { endResponse, runResponse } from "../engine/run-response.ts";
import { sealer } from "../engine/seal.ts";
import { readSteps } from "../engine/steps.ts";
import { emptyOffer } from "../executor/offer.ts";
import { ApiError } from "../protocol/api-error.ts";
import { withCredentials } from "../protocol/credentials.ts";
import type { EventBody } from "../protocol/events.ts";
import { fromStoredRequest } from "../protocol/stored-request.ts";
import type { Claim, Store, StoredEvent, StoredResponse, StoredRun } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { type ActiveRuns, RunStopped } from "./active-runs.ts";
import type { Hub } from "./hub.ts";
import type { RunObserver } from "./observer.ts";
import { type Planned, type PlannerOptions, planRun } from "./planner.ts";

export interface WorkerOptions {
  readonly store: Store;
  readonly active: ActiveRuns;
  readonly hub: Hub;
  readonly planner: PlannerOptions;
  readonly present: ResponsePresenter;
  readonly observer: RunObserver;
  /** Who holds the leases. */
  readonly name: string;
  /** How many runs work at once. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How often a run is started again without having made progress. */
  readonly maxAttempts: number;
  readonly now: () => number;
}

/** How often to look for runs whose worker is gone. */
const lookEveryMs = 5000;
/** After the store has failed, how long a run waits before it is tried again. */
const retryMs = 2000;
const eventsPage = 1000;
/** What older versions have left unsealed; see the steps of the store's schema. */
const plainCredentials = "plain.";
const shortestProbationMs = 10_000;
const longestProbationMs = 3_600_000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** Known at once, other than that the promise is settled: a call in between would be lost. */
  #isLooking = false;
  #shallLookAgain = false;
  #isStopped = false;
  /** The run that works apart, if there is one: nothing else is begun meanwhile. */
  #onProbation: string | undefined;
  /** Whether suspects are looked for: none but those that were one works here. */
  #isApart = true;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), lookEveryMs).unref();
    this.#shallLookAgain = true;
    this.#isLooking = true;
    this.#looking = this.#endDead().then(() => this.#look());
  }

  /** Says that there may be something to run. */
  wake(): void {
    this.#shallLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#looking = this.#look();
  }

  /** Takes no more runs. Those that work go on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Resolves when no run works any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Ends a run that nobody works on yet; whoever works on it elsewhere hears of it with the next heartbeat. */
  async cancel(id: string): Promise<void> {
    const { store, name, leaseMs } = this.#options;
    const claims = await store.claim(name, { leaseMs, limit: 1, id });
    await Promise.all(claims.map((claim) => this.#begin(claim)));
  }

  /**
   * Ends what a process that died has left to be ended. It hurts nobody, and conversations wait for it: so before the
   * suspects, of which each may take a while.
   */
  async #endDead(): Promise<void> {
    const { store, name, leaseMs, concurrency, observer } = this.#options;
    try {
      while (!this.#isStopped) {
        const claims = await store.claim(name, { leaseMs, limit: concurrency, onlyToEnd: true });
        if (claims.length === 0) return;
        await Promise.all(claims.map((claim) => this.#begin(claim)));
      }
    } catch (error) {
      observer.warn("Ending interrupted responses has failed.", { error });
    }
  }

  async #look(): Promise<void> {
    try {
      while (this.#shallLookAgain && !this.#isStopped) {
        this.#shallLookAgain = false;
        const limit = this.#options.concurrency - this.#running.size;
        if (limit <= 0 || this.#onProbation !== undefined) return; // the end of a run looks again
        await this.#takeAny(limit);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #takeAny(limit: number): Promise<void> {
    try {
      await this.#options.active.renewIfLate();
      if (!(await this.#takeSuspect())) await this.#take(limit);
    } catch (error) {
      this.#options.observer.warn("Looking for background runs has failed.", { error });
    }
  }

  /**
   * Begins a run that was at work when a process died, apart from others that may be hurt by it. Before all others,
   * so that these do not keep it waiting for ever. Whether there was one.
   */
  async #takeSuspect(): Promise<boolean> {
    const { store, name, leaseMs } = this.#options;
    if (this.#running.size === 0) this.#isApart = true;
    if (!this.#isApart) return false;
    const [claim] = await store.claim(name, { leaseMs, limit: 1, suspects: "only" });
    if (!claim) return false;
    this.#onProbation = claim.responseId;
    const timer = setTimeout(() => this.#trust(claim, false), probationMs(claim.suspicion)).unref();
    void this.#begin(claim).finally(() => clearTimeout(timer));
    return true;
  }

  async #take(limit: number): Promise<void> {
    const { store, name, leaseMs } = this.#options;
    const claims = await store.claim(name, { leaseMs, limit, suspects: "none" });
    if (claims.length > 0) this.#isApart = false;
    for (const claim of claims) void this.#begin(claim);
    if (claims.length === limit) this.#shallLookAgain = true;
  }

  /** Lets others work beside a run. */
  #trust(claim: Claim, hasProgressed: boolean): void {
    // If that fails, the run is at worst blamed for what another does.
    this.#options.store.trust(claim, { hasProgressed }).catch(() => {});
    this.#endProbation(claim);
  }

  #endProbation({ responseId }: Claim): void {
    if (this.#onProbation !== responseId) return;
    this.#onProbation = undefined;
    this.wake();
  }

  #begin(claim: Claim): Promise<void> {
    const work = this.#work(claim).finally(() => {
      this.#running.delete(work);
      this.#endProbation(claim);
      this.wake();
    });
    this.#running.add(work);
    return work;
  }

  /** Never throws: what goes wrong is the run's end, or a reason to try it again later. */
  async #work(claim: Claim): Promise<void> {
    const { active, hub, observer } = this.#options;
    const { responseId, response } = claim;
    try {
      await active.hold(claim, async (signal) => {
        if (!response.background) await this.#failInterrupted(claim);
        else await this.#run(claim, signal);
      });
    } catch (error) {
      // Another worker has it, it was deleted, or this process ends: nothing to do here any more.
      const isOver =
        error instanceof RunStopped || (error instanceof StoreError && error.code === "lost_lease");
      if (!isOver)
        observer.warn("A background run was interrupted; it is tried again.", { responseId, error });
      // Neither the end of this process nor a store that fails is the run's fault.
      const forgetsAttempt = isOver || (error instanceof StoreError && error.code === "unavailable");
      await this.#giveBack(claim, isOver ? 0 : retryMs, forgetsAttempt);
    } finally {
      hub.ring(responseId);
      const { conversation } = response.request;
      if (typeof conversation === "string") hub.ring(conversation);
    }
  }

  /** Lets others have a run, after a while. A store that fails may do so once more; in the end the lease runs out. */
  async #giveBack(claim: Claim, waitMs: number, forgetsAttempt: boolean): Promise<void> {
    const { store, leaseMs } = this.#options;
    for (let left = leaseMs; left > 0 && !this.#isStopped; left -= retryMs) {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      const isReleased = await store.release(claim, { forgetsAttempt }).then(
        () => true,
        () => false,
      );
      if (isReleased || waitMs === 0) return;
    }
    await store.release(claim, { forgetsAttempt }).catch(() => {});
  }

  /** The client of a foreground run has gone with the process that served it. */
  async #failInterrupted(claim: Claim): Promise<void> {
    const { store, present, now } = this.#options;
    const error = {
      type: "server_error",
      code: "interrupted",
      message:
        "The server stopped while it worked on this response. Only background responses go on after that.",
      param: null,
    };
    const update = { status: "failed", completedAtMs: now(), error } as const;
    const { lastSequence, output } = await store.resume(claim);
    const response = present(storedParts({ ...claim.response, ...update }, output));
    const { code, message, param } = error;
    const ends: EventBody[] = [
      { type: "error", code, message, param, error },
      { type: "response.failed", response },
    ];
    // A stream that may be asked for again has its events in the log, and needs an end there.
    const events =
      lastSequence < 0 ? [] : ends.map((body, index) => toStored(body, lastSequence + 1 + index));
    await store.commit(claim, { update, events, isDurable: true });
  }

  async #run(claim: Claim, signal: AbortSignal): Promise<void> {
    const { store, hub, present, observer, planner, now } = this.#options;
    const { response } = claim;
    const left = await store.resume(claim);
    const progress = readProgress(
      response.id,
      readSteps(left.steps, limitsOf(response, planner)),
      left.output,
      await this.#allEvents(response),
    );
    const journal = new Journal({
      kept: { store, lease: claim },
      logsEvents: true,
      sequence: left.lastSequence + 1,
      onCommit: (events) => hub.tell(response.id, events),
    });
    // Nothing more is written when the process ends: whoever has the store next goes on from there.
    const onStop = () => {
      if (!(signal.reason instanceof RunStopped) || signal.reason.why !== "cancelled") journal.close();
    };
    signal.addEventListener("abort", onStop);
    const hasProgressed = firstRoundEnds();
    const context = {
      journal,
      signals: [signal],
      present,
      progress,
      onEvent: (event: LoopEvent) => {
        observer.loopEvent(event);
        if (hasProgressed(event)) this.#trust(claim, true);
      },
      now,
    };
    try {
      const { input, ...request } = this.#storedRequest(response, left);
      const head = { ...response, request, messages: [], offer: emptyOffer, executors: planner.executors };
      const refusal = this.#refusal(claim);
      const planned: Planned | ApiError | "cancelled" =
        refusal ?? (await planRun({ ...head, input, progress }, planner).catch(toRefusal));
      const end = await (typeof planned === "object" && "plan" in planned
        ? runResponse(planned.plan, context)
        : endResponse(head, context, planned));
      if (signal.aborted && signal.reason instanceof RunStopped && signal.reason.why !== "cancelled")
        throw signal.reason;
      observer.runEnded(end.response, end.failure);
    } finally {
      signal.removeEventListener("abort", onStop);
      journal.close();
    }
  }

  /** The request as it was made, with the credentials for MCP servers. */
  #storedRequest({ owner, request }: StoredResponse, { input, credentials }: StoredRun) {
    const stored = { ...fromStoredRequest(request), input };
    if (credentials === undefined) return stored;
    const unsealed = credentials.startsWith(plainCredentials)
      ? credentials.slice(plainCredentials.length)
      : sealer(this.#options.planner.secrets, owner).unseal("credentials", credentials);
    // Sealed with a key that the config has no more: the servers then say what is missing.
    return unsealed === undefined ? stored : withCredentials(stored, unsealed);
  }

  /** Why a claimed run is not run. */
  #refusal({ response, attempts }: Claim): ApiError | "cancelled" | undefined {
    if (response.isCancelRequested) return "cancelled";
    if (attempts <= this.#options.maxAttempts) return undefined;
    return new ApiError(
      `The server died ${attempts - 1} times because of this response, as far as is known, and it got no further. A tool of it may block or end the process: the server's log names it.`,
      { status: 500, type: "server_error", code: "too_many_attempts" },
    );
  }

  async #allEvents({ owner, id }: StoredResponse): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    while (true) {
      const page = await this.#options.store.events(owner, id, events.length - 1, eventsPage);
      events.push(...page);
      if (page.length < eventsPage) return events;
    }
  }
}

function limitsOf({ request }: StoredResponse, { maxAgenticTurns }: PlannerOptions) {
  const {
    max_agentic_turns: own = maxAgenticTurns,
    max_tool_calls: maxToolCalls = Number.POSITIVE_INFINITY,
  } = fromStoredRequest(request);
  return { maxTurns: Math.min(own, maxAgenticTurns), maxToolCalls };
}

function toStored({ type, ...rest }: EventBody, sequence: number): StoredEvent {
  return { sequence, data: JSON.stringify({ type, sequence_number: sequence, ...rest }) };
}

/** Why a run cannot be planned. A store that does not work is no reason to end it: it is tried again. */
function toRefusal(error: unknown): ApiError {
  if (error instanceof StoreError && error.code === "unavailable") throw error;
  return toApiError(error);
}

/**
 * Tells by the events of a run, once, that a round is over whose tools have run in this process. Less is not enough: a
 * model that calls a tool which ends the process, and is told so, may well call it again.
 */
function firstRoundEnds(): (event: LoopEvent) => boolean {
  let isOver = false;
  let hasRunTool = false;
  return ({ type }) => {
    if (isOver) return false;
    if (type === "tool.started") hasRunTool = true;
    isOver = hasRunTool && type === "model.started";
    return isOver;
  };
}

/** How long a suspect works alone. Longer each time: what ends the process may come late. */
export function probationMs(suspicion: number): number {
  return Math.min(shortestProbationMs * 4 ** (suspicion - 1), longestProbationMs);
}
