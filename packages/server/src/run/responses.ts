// What clients can do with responses: create, follow, read, list, cancel and delete them.

import { randomUUID } from "node:crypto";
import type { Audit } from "../audit/audit-log.ts";
import type { ModelEntry, ModelServerHealth, Models } from "../config/models.ts";
import type { EventSink } from "../engine/event-sink.ts";
import { Journal } from "../engine/journal.ts";
import { Pasts } from "../engine/past.ts";
import { planParts, storedParts } from "../engine/response-parts.ts";
import { noUsage } from "../engine/usage.ts";
import { type ApiError, invalidRequest, notFound } from "../protocol/api-error.ts";
import { expandInputItem } from "../protocol/expand-input-item.ts";
import type { InputItem } from "../protocol/items.ts";
import type { ListQuery, PageQuery, RunsQuery, TraceQuery } from "../protocol/query.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { responseObject } from "../protocol/response-object.ts";
import type { RunObject } from "../protocol/run-object.ts";
import { isTerminal } from "../protocol/status.ts";
import { fromStoredRequest } from "../protocol/stored-request.ts";
import type { TraceLevel, TraceObject } from "../protocol/trace-object.ts";
import { cancelsTopic, jobsTopic, LocalNews, type News } from "../store/news.ts";
import type { ListOptions, Store, StoredResponse } from "../store/store.ts";
import { isStoreError } from "../store/store-error.ts";
import { ActiveRuns } from "./active-runs.ts";
import { type CompactedResponse, compactHistory } from "./compact.ts";
import { conversationBusy, toConversationError } from "./conversation-errors.ts";
import { followLog } from "./follow.ts";
import { ForegroundRuns } from "./foreground-runs.ts";
import { toStoredEvent } from "./job.ts";
import { type ListObject, toCursorError, toList } from "./list-object.ts";
import { listRuns } from "./list-runs.ts";
import type { RunObserver } from "./observer.ts";
import { type PlannerOptions, promptTokens, type Recall } from "./planner.ts";
import { type PreparedRun, type PrepareSettings, prepareRun, toNewResponse } from "./prepare.ts";
import { PromptWatches } from "./prompt-watches.ts";
import { QueueLimit } from "./queue-limit.ts";
import { toTraceObject } from "./read-trace.ts";
import { RecentWarnings } from "./recent-warnings.ts";
import { findRepeated, type RepeatKey, toFailure, waitForEnd } from "./repeat.ts";
import { addContents } from "./run-contents.ts";
import { publishFree, type RunParts } from "./run-parts.ts";
import { RunTraces } from "./run-traces.ts";
import type { Telemetry, TraceHeaders } from "./telemetry.ts";
import { Worker } from "./worker.ts";

/** The items of each input in a list of runs. */
const maxInput = 100;

export interface ResponsesOptions
  extends Omit<PlannerOptions, "secrets" | "promptWatches" | "pasts">,
    PrepareSettings {
  readonly store: Store;
  readonly models: Models;
  /** Secrets from which the sealing keys are made, the newest first. Default: a secret of the store. */
  readonly sealKeys?: readonly string[];
  readonly runs: {
    /** Whether this process works on background runs. Default: true. */
    readonly enabled?: boolean;
    readonly concurrency: number;
    readonly leaseMs: number;
    readonly maxAttempts: number;
    /** How long a background run waits for a model server that is away. Default: 0. */
    readonly modelWaitMs?: number;
  };
  /** How many background runs of an owner may wait. Default: any number. */
  readonly waitingRunsPerOwner?: number;
  readonly observer: RunObserver;
  /** The audit log. Default: none. */
  readonly audit?: Audit | undefined;
  /** Makes spans of the runs. Default: none are made. */
  readonly telemetry?: Telemetry | undefined;
  /** What is recorded of runs. Default: `timings`. */
  readonly traces?: TraceLevel;
  /** Default: `Date.now`. */
  readonly now?: () => number;
}

/** How long a background run may go on in a process that ends, where another process can continue it. */
const handOverMs = 1000;

/** All methods throw an `ApiError` for the client. What belongs to another owner is a 404. */
export class Responses {
  readonly #parts: RunParts & PrepareSettings & { readonly models: Models };
  readonly #foreground: ForegroundRuns;
  readonly #worker: Worker;
  readonly #queueLimit: QueueLimit;

  private constructor(options: ResponsesOptions, secrets: readonly string[]) {
    const { store, runs, observer, now = Date.now, waitingRunsPerOwner = Infinity } = options;
    const { queue } = store;
    const workerName = randomUUID();
    const news = loggedNews(store.news ?? new LocalNews(), observer);
    const onError = (error: unknown) =>
      observer.warn("The leases of running responses could not be renewed.", { error });
    this.#parts = {
      ...options,
      news,
      active: new ActiveRuns({ queue, news, leaseMs: runs.leaseMs, onError }),
      planner: { ...options, secrets, promptWatches: new PromptWatches(), pasts: new Pasts() },
      recentWarnings: new RecentWarnings(now),
      traces: new RunTraces({ level: options.traces ?? "timings", observer, worker: workerName }),
      workerName,
      leaseMs: runs.leaseMs,
      now,
    };
    this.#foreground = new ForegroundRuns({ ...this.#parts, maxDetached: runs.concurrency });
    this.#worker = new Worker({ ...this.#parts, ...runs });
    this.#queueLimit = new QueueLimit(queue, waitingRunsPerOwner, { isShared: store.isShared ?? false });
  }

  /** Starts the service, and the jobs that wait in the store. */
  static async start(options: ResponsesOptions): Promise<Responses> {
    const secret = await options.store.keepSecret("seal", randomUUID() + randomUUID());
    // What was sealed before there were keys in the config stays readable.
    const responses = new Responses(options, [...(options.sealKeys ?? []), secret]);
    if (options.runs.enabled !== false) responses.#worker.start();
    return responses;
  }

  /**
   * `recall` knows responses that are not in the store; under `repeatKey` the same request finds this one again;
   * `headers` are those of the client.
   */
  async prepare(
    owner: string,
    body: unknown,
    {
      recall,
      repeatKey,
      headers,
    }: { recall?: Recall; repeatKey?: RepeatKey | undefined; headers?: TraceHeaders } = {},
  ): Promise<PreparedRun> {
    const caller = this.#parts.telemetry?.callerOf(headers ?? {});
    const prepared = await prepareRun(owner, body, { waits: true, recall, repeatKey, caller }, this.#parts);
    const { conversation } = prepared.request;
    const isBusy = conversation !== undefined && prepared.planned.version === undefined;
    if (isBusy && this.#parts.conversations === "reject") throw conversationBusy(conversation);
    return prepared;
  }

  /** A response without an answer: its id stands for what was sent, until the next request follows it. */
  async prepareWarmUp(
    owner: string,
    body: unknown,
    { recall }: { recall?: Recall } = {},
  ): Promise<PreparedRun> {
    return prepareRun(owner, body, { recall, isWarmUp: true }, this.#parts);
  }

  /** Emits created and completed; stores nothing. */
  warmUp({ planned: { plan } }: PreparedRun, sink: EventSink): void {
    const { now } = this.#parts;
    const journal = new Journal({ logsEvents: false, sink });
    const completedAtMs = now();
    journal.emit({ type: "response.created", response: responseObject(planParts(plan, "in_progress", [])) });
    const ended = { ...planParts(plan, "completed", []), usage: noUsage, completedAtMs };
    journal.emit({ type: "response.completed", response: responseObject(ended) });
    journal.close();
  }

  /** The response of an earlier request under this key. Throws a 422 if that request was another one. */
  async findRepeated(owner: string, key: RepeatKey): Promise<string | undefined> {
    return findRepeated(this.#parts.store, owner, key);
  }

  /** Returns a response again: a background one as it is, another when it has ended. Throws as `runPlain()`. */
  async repeat(owner: string, id: string, signal: AbortSignal): Promise<ResponseObject> {
    const found = await this.#find(owner, id);
    if (found.background) return this.#show(found);
    this.#parts.news.publish(jobsTopic); // it may be a run of a dead process
    const response = await waitForEnd(this.#parts, owner, id, signal);
    if (!response) throw unknownResponse(id);
    if (response.error) throw toFailure(response.error);
    return this.#show(response);
  }

  /** Throws when the model has failed. */
  async runPlain(prepared: PreparedRun, signal: AbortSignal): Promise<ResponseObject> {
    const end = await this.#run(prepared, signal, undefined);
    if (typeof end === "string") return this.repeat(prepared.owner, end, signal);
    if (end.failure) throw end.failure;
    return end.response;
  }

  /** Errors of the run are events of the stream. */
  async runStreamed(prepared: PreparedRun, sink: EventSink, signal: AbortSignal): Promise<void> {
    const end = await this.#run(prepared, signal, sink);
    if (typeof end === "string") await this.follow(prepared.owner, end, -1, sink, signal);
  }

  /** Enqueues a background run. Throws a 429 when too many of its owner wait. */
  async enqueue(prepared: PreparedRun): Promise<ResponseObject> {
    const { store, news, workerName, leaseMs } = this.#parts;
    await this.#queueLimit.enter(prepared.owner);
    const response = responseObject(planParts(prepared.planned.plan, "queued", []));
    const events = [toStoredEvent({ type: "response.created", response }, 0)];
    const job = { ...toNewResponse(prepared, "queued", this.#parts), events };
    try {
      await store.create(job, workerName, leaseMs);
    } catch (error) {
      if (isStoreError(error, "key_taken"))
        return this.get(prepared.owner, await this.#repeated(prepared, error));
      throw toConversationError(error, prepared.request.conversation ?? "");
    }
    news.publish(jobsTopic);
    return response;
  }

  /** Sends the events after `after`, then those that come. */
  async follow(
    owner: string,
    id: string,
    after: number,
    sink: EventSink,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, news } = this.#parts;
    const response = await this.#find(owner, id);
    const hasLog = response.background || (await store.events(owner, id, -1, 1)).length > 0;
    if (!hasLog)
      throw invalidRequest(
        "stream",
        `The response '${id}' was not made with background: true, so its events were not kept. Get it without stream.`,
      );
    if (!response.background) news.publish(jobsTopic); // it may be a run of a dead process
    await followLog({ ...this.#parts, owner, id, after, sink, signal });
  }

  async get(owner: string, id: string): Promise<ResponseObject> {
    return this.#show(await this.#find(owner, id));
  }

  async list(owner: string, query: ListQuery): Promise<ListObject<ResponseObject>> {
    const page = await this.#parts.store.list(owner, query).catch(toCursorError);
    const data = await Promise.all(page.data.map((response) => this.#show(response)));
    return toList({ data, hasMore: page.hasMore });
  }

  async listRuns(owner: string, query: RunsQuery): Promise<ListObject<RunObject>> {
    const page = await listRuns(this.#parts.store, owner, query);
    if (query.include.length === 0) return page;
    const { store } = this.#parts;
    return addContents(page, query, {
      response: async (id) => {
        const response = await store.get(owner, id);
        return response && this.#show(response);
      },
      input: async (id) => {
        const { data, hasMore } = await store.input(owner, id, { limit: maxInput, order: "asc" });
        return { data: data.map(expandInputItem), has_more: hasMore };
      },
    });
  }

  /** What happened in a run, also while it works. */
  async trace(owner: string, id: string, query: TraceQuery): Promise<TraceObject> {
    const { store, traces } = this.#parts;
    const response = await this.#find(owner, id);
    const unwritten = traces.unwritten(id); // before the rest: it may be written meanwhile
    // Also the event that the client has last: it may be the one that says that the rest is left out.
    const stored = await store.trace(owner, id, query.after - 1);
    return toTraceObject(response, query, { stored, unwritten, level: traces.level });
  }

  async inputItems(owner: string, id: string, query: PageQuery): Promise<ListObject<InputItem>> {
    await this.#find(owner, id);
    const page = await this.#parts.store.input(owner, id, query as ListOptions).catch(toCursorError);
    return toList({ ...page, data: page.data.map(expandInputItem) });
  }

  async remove(owner: string, id: string): Promise<{ id: string; object: "response"; deleted: true }> {
    const { store, active, news } = this.#parts;
    const { request } = await this.#find(owner, id);
    // First from the store, so that no worker claims what is being stopped.
    await store.remove(owner, id);
    await active.stop(id, "removed");
    news.publish(id);
    publishFree(news, fromStoredRequest(request).conversation);
    return { id, object: "response", deleted: true };
  }

  /** Ends a response that runs or waits. One that has ended stays as it is. */
  async cancel(owner: string, id: string): Promise<ResponseObject> {
    const { store, active, news } = this.#parts;
    const response = await store.requestCancel(owner, id);
    if (!response) throw unknownResponse(id);
    if (isTerminal(response.status)) return this.#show(response);
    if (!(await active.stop(id, "cancelled"))) {
      news.publish(cancelsTopic); // first: the process that works on it need not wait for what follows
      await this.#worker.cancel(id);
      await active.stop(id, "cancelled"); // our own worker may have claimed it at the same moment
    }
    return this.get(owner, id);
  }

  /** Estimates how many tokens the model would read. */
  async countInputTokens(
    owner: string,
    body: unknown,
  ): Promise<{ object: "response.input_tokens"; input_tokens: number }> {
    const { planned } = await prepareRun(owner, body, {}, this.#parts);
    const { messages, offer } = planned.plan;
    return { object: "response.input_tokens", input_tokens: promptTokens(messages, offer) };
  }

  /** Summarises a conversation. Stores nothing. `headers` are those of the client. */
  async compact(
    owner: string,
    body: unknown,
    signal: AbortSignal,
    headers: TraceHeaders = {},
  ): Promise<CompactedResponse> {
    const tracer = this.#parts.telemetry?.requestTracer(headers);
    const { planned } = await prepareRun(owner, body, {}, this.#parts);
    return compactHistory(planned, this.#parts.planner.secrets, signal, tracer);
  }

  async listModels(): Promise<readonly ModelEntry[]> {
    return this.#parts.models.list();
  }

  /** How many model servers answer; undefined if that is not known. */
  async modelServerHealth(): Promise<ModelServerHealth | undefined> {
    return this.#parts.models.health?.();
  }

  /** Throws when the store cannot write. */
  async check(): Promise<void> {
    await this.#parts.store.check();
  }

  /**
   * Claims no more jobs, and gives the active runs `graceMs` to end. What still runs then stays as it is in the store,
   * for the next process. Where other processes work on the same store, they get the background runs sooner.
   */
  async drain(graceMs: number): Promise<void> {
    const { active, store } = this.#parts;
    await this.#worker.stop();
    if (store.isShared) {
      await active.idleWithin(Math.min(graceMs, handOverMs));
      await active.handOver();
    }
    await active.idleWithin(graceMs);
    await active.stopAll("shutdown");
    await this.#worker.idle();
  }

  /** How the run ended, or the id of the response if the same request came first. */
  async #run(prepared: PreparedRun, signal: AbortSignal, sink: EventSink | undefined) {
    return this.#foreground
      .run(prepared, signal, sink)
      .catch((error: unknown) => this.#repeated(prepared, error));
  }

  /** The response of the same request that came first. Throws any other error. */
  async #repeated({ owner, repeatKey }: PreparedRun, error: unknown): Promise<string> {
    const id =
      isStoreError(error, "key_taken") && repeatKey ? await this.findRepeated(owner, repeatKey) : undefined;
    if (id === undefined) throw error;
    return id;
  }

  async #find(owner: string, id: string): Promise<StoredResponse> {
    const response = await this.#parts.store.get(owner, id);
    if (!response) throw unknownResponse(id);
    return response;
  }

  async #show(response: StoredResponse): Promise<ResponseObject> {
    const output = await this.#parts.store.output(response.owner, response.id);
    return responseObject(storedParts(response, output));
  }
}

function unknownResponse(id: string): ApiError {
  return notFound(`Response with id '${id}' not found.`, "response_not_found");
}

/** News whose failures are only logged: they are hints, and must end neither a run nor the process. */
function loggedNews(news: News, observer: RunObserver): News {
  const onError = (error: unknown) => observer.warn("News of the store could not be published.", { error });
  return {
    publish(topic, events) {
      try {
        const sent: unknown = news.publish(topic, events); // a promise, if a user's function is asynchronous
        if (sent instanceof Promise) sent.catch(onError);
      } catch (error) {
        onError(error);
      }
    },
    subscribe: (topic, listener) => news.subscribe(topic, listener),
  };
}
