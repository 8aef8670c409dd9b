// Runs responses while their clients wait.

import type { EventSink } from "../engine/event-sink.ts";
import { toApiError, toResponseError } from "../engine/failure.ts";
import { Journal } from "../engine/journal.ts";
import { planParts } from "../engine/response-parts.ts";
import { type RunEnd, runResponse } from "../engine/run-response.ts";
import { noUsage } from "../engine/usage.ts";
import { ApiError, notFound } from "../protocol/api-error.ts";
import type { OutputItem } from "../protocol/items.ts";
import { responseObject } from "../protocol/response-object.ts";
import { jobsTopic } from "../store/news.ts";
import type { Lease } from "../store/run-queue.ts";
import type { StoredEvent } from "../store/store.ts";
import { isStoreError } from "../store/store-error.ts";
import { RunStopped } from "./active-runs.ts";
import { conversationBusy, toConversationError } from "./conversation-errors.ts";
import { inRun } from "./current-run.ts";
import { DetachedRuns } from "./detached-runs.ts";
import { toStoredEvent } from "./job.ts";
import { KeyedLock } from "./keyed-lock.ts";
import { NewsReader } from "./news-reader.ts";
import { type Planned, planRun } from "./planner.ts";
import { type PreparedRun, type PrepareSettings, toNewResponse } from "./prepare.ts";
import { publishFree, type RunParts } from "./run-parts.ts";
import { noteDecisions, tracedBy } from "./run-traces.ts";

export interface ForegroundOptions extends RunParts, PrepareSettings {
  /** How many runs of an owner continue without their clients. */
  readonly maxDetached: number;
}

export class ForegroundRuns {
  readonly #options: ForegroundOptions;
  readonly #detached: DetachedRuns;
  /** Foreground runs that wait for their conversations. */
  readonly #conversations = new KeyedLock();

  constructor(options: ForegroundOptions) {
    this.#options = options;
    this.#detached = new DetachedRuns(options.maxDetached);
  }

  /** `gone` is aborted when the client disconnects. Throws when the run cannot begin. */
  async run(prepared: PreparedRun, gone: AbortSignal, sink: EventSink | undefined): Promise<RunEnd> {
    const { id, owner, request, planned, repeatKey } = prepared;
    if (!request.store) return inRun(id, () => this.#work(prepared, planned, { sink, signals: [gone] }));
    return this.#begin(prepared, gone, sink, (current, lease, createMs) =>
      this.#options.active.hold(lease, (stopped) => {
        const work = (left: AbortSignal) =>
          this.#work(prepared, current, { sink, signals: [left, stopped], lease, createMs });
        // A client with a key will ask for the response again.
        return repeatKey ? this.#detached.watch(owner, gone, work) : work(gone);
      }),
    );
  }

  /** Creates the response, at once or as soon as its conversation is free, and lets it work. */
  async #begin<T>(
    prepared: PreparedRun,
    gone: AbortSignal,
    sink: EventSink | undefined,
    work: (planned: Planned, lease: Lease, createMs: number) => Promise<T>,
  ): Promise<T> {
    const { request, planned } = prepared;
    const { store, news, workerName, leaseMs, conversations: whenBusy } = this.#options;
    const { conversation } = request;
    let createMs = 0;
    const create = async (current: Planned) => {
      const startedAtMs = performance.now();
      const response = toNewResponse({ ...prepared, planned: current }, "in_progress", this.#options);
      const events = this.#firstEvents(prepared, current, sink);
      const lease = await store.create({ ...response, events }, workerName, leaseMs);
      createMs = performance.now() - startedAtMs;
      return lease;
    };
    if (conversation === undefined) return work(planned, await create(planned), createMs);
    const release = whenBusy === "queue" ? await this.#conversations.acquire(conversation, gone) : () => {};
    try {
      const begun = await this.#beginWhenFree(prepared, conversation, gone, create);
      return await work(begun.planned, begun.lease, createMs);
    } finally {
      release();
      publishFree(news, conversation);
    }
  }

  /** The store decides when a conversation is free, for all processes; this waits for news and asks again. */
  async #beginWhenFree(
    { id, owner, request, planned }: PreparedRun,
    conversation: string,
    gone: AbortSignal,
    create: (planned: Planned) => Promise<Lease>,
  ): Promise<{ planned: Planned; lease: Lease }> {
    const { planner, news, conversations: whenBusy } = this.#options;
    const { createdAtMs } = planned.plan;
    // Without a version the conversation was busy, and there is no plan yet.
    let current = planned.version === undefined ? undefined : planned;
    for (; ; current = undefined) {
      gone.throwIfAborted();
      using reader = new NewsReader(this.#options, conversation, gone);
      try {
        current ??= await planRun(
          { id, owner, createdAtMs, request, input: request.input, waits: true },
          planner,
        );
        if (current.version !== undefined) return { planned: current, lease: await create(current) };
        if (whenBusy === "reject") throw conversationBusy(conversation);
      } catch (error) {
        if (isStoreError(error, "conversation_changed")) continue;
        if (!isStoreError(error, "conversation_busy") || whenBusy === "reject")
          throw toConversationError(error, conversation);
      }
      // The run before it may be one of a dead process, which publishes nothing.
      news.publish(jobsTopic);
      await reader.arrived;
    }
  }

  async #work(
    prepared: PreparedRun,
    planned: Planned,
    run: { sink: EventSink | undefined; signals: readonly AbortSignal[]; lease?: Lease; createMs?: number },
  ): Promise<RunEnd> {
    const { store, news, observer, audit, telemetry, now, traces } = this.#options;
    const { sink, signals, lease, createMs } = run;
    const { id, owner, request } = prepared;
    const { plan } = planned;
    const { createdAtMs } = plan;
    const span = telemetry?.begin({ ...plan, parent: prepared.caller });
    const tracer = traces.begin({ id, owner, createdAtMs, isStored: lease !== undefined, attempt: 1 });
    if (createMs !== undefined)
      tracer.note({ type: "store.committed", ms: createMs, isDurable: prepared.repeatKey !== undefined });
    noteDecisions(tracer, request.input);
    let ended: RunEnd | undefined;
    const sent = this.#firstEvents(prepared, planned, sink);
    const logsEvents = sent.length > 0;
    for (const { data } of sent) sink?.send("response.created", data);
    const journal = new Journal({
      kept: lease && { store, lease },
      logsEvents,
      sequence: sent.length,
      sink,
      onCommit: logsEvents ? (events) => news.publish(prepared.id, events) : undefined,
      tracer,
    });
    try {
      ended = await runResponse(plan, {
        journal,
        signals,
        isSilent: sink === undefined,
        isCreatedTold: logsEvents,
        audit,
        onEvent: (event) => observer.loopEvent(event, prepared.id),
        tracer: tracedBy(tracer, span?.tracer),
        now,
      });
      observer.runEnded(ended.response, ended.failure, owner);
      this.#auditEnd(prepared, ended);
      return ended;
    } catch (error) {
      ended = this.#abandon(prepared, journal, await this.#toFailure(prepared, error));
      this.#auditEnd(prepared, ended);
      return ended;
    } finally {
      span?.end(ended);
      journal.close();
      traces.end(tracer);
      if (prepared.repeatKey) news.publish(prepared.id);
    }
  }

  #auditEnd({ id, owner }: PreparedRun, { response: { status }, failure }: RunEnd): void {
    const error = failure?.code ?? undefined;
    this.#options.audit?.record({ action: "run.ended", owner, responseId: id, outcome: status, error });
  }

  /** The first events of a stream that can be repeated: its log begins when it can be found. */
  #firstEvents(
    { repeatKey }: PreparedRun,
    { plan }: Planned,
    sink: EventSink | undefined,
  ): readonly StoredEvent[] {
    if (!sink || !repeatKey) return [];
    const response = responseObject(planParts(plan, "in_progress", []));
    return [toStoredEvent({ type: "response.created", response }, 0)];
  }

  /** Why a run cannot be kept: it was deleted, another process took it over, or the store fails. */
  async #toFailure({ id, owner }: PreparedRun, cause: unknown): Promise<ApiError> {
    const isLost = cause instanceof RunStopped || isStoreError(cause, "lost_lease");
    if (!isLost) return toApiError(cause, owner);
    const isThere = await this.#options.store.get(owner, id).then(
      (response) => response !== undefined,
      () => true,
    );
    return isThere ? interrupted() : notFound("The response was deleted while it ran.", "response_deleted");
  }

  /** The run cannot be kept any more: its client receives a failure, after all that was sent before. */
  #abandon({ owner, planned: { plan } }: PreparedRun, journal: Journal, failure: ApiError): RunEnd {
    const { observer, news, now } = this.#options;
    const error = toResponseError(failure);
    const completedAtMs = now();
    const failed = (items: OutputItem[]) =>
      responseObject({ ...planParts(plan, "failed", items), error, usage: noUsage, completedAtMs });
    const { code, message, param } = error;
    journal.giveUp((told) => [
      { type: "error", code, message, param, error },
      { type: "response.failed", response: failed(told) },
    ]);
    const response = failed([]);
    observer.runEnded(response, failure, owner);
    // It may still be in the store: a worker ends it there when its lease expires.
    news.publish(jobsTopic);
    return { response, failure };
  }
}

/** Another process took the run over, because this one was frozen or could not reach the store. */
function interrupted(): ApiError {
  return new ApiError(
    "This server was out of touch with its store for too long, so the response was ended. Send the request again.",
    { status: 500, type: "server_error", code: "interrupted" },
  );
}
