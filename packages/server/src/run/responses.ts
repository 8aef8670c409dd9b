// What clients can do with responses: make, follow, read, list, cancel and delete them.

import { randomUUID } from "node:crypto";
import { estimateTokens } from "rondo";
import type { Models } from "../config/models.ts";
import type { EventSink } from "../engine/event-sink.ts";
import { toApiError, toResponseError } from "../engine/failure.ts";
import { Journal } from "../engine/journal.ts";
import { type ResponsePresenter, planParts, presenter, storedParts } from "../engine/present.ts";
import { type RunEnd, runResponse } from "../engine/run-response.ts";
import { sealer } from "../engine/seal.ts";
import { noUsage } from "../engine/usage.ts";
import { type ApiError, invalidRequest, notFound } from "../protocol/api-error.ts";
import { type CreateRequest, type Limits, parseCreateRequest } from "../protocol/create-request.ts";
import { credentialsOf, itemWithoutCredentials } from "../protocol/credentials.ts";
import { newId } from "../protocol/ids.ts";
import type { UrlRules } from "../protocol/input-urls.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { ListQuery, PageQuery } from "../protocol/query.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { shownInput } from "../protocol/shown-input.ts";
import { isTerminal } from "../protocol/status.ts";
import { fromStoredRequest, toStoredRequest } from "../protocol/stored-request.ts";
import type { Lease, ListOptions, NewResponse, Store, StoredEvent, StoredResponse } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { ActiveRuns, RunStopped } from "./active-runs.ts";
import { beginInTurn, conversationBusy, toConversationError, type WhenBusy } from "./begin-in-turn.ts";
import { type CompactedResponse, compactHistory } from "./compact.ts";
import { inRun } from "./current-run.ts";
import { followLog } from "./follow.ts";
import { Hub } from "./hub.ts";
import { LeftBehind } from "./left-behind.ts";
import { Line } from "./line.ts";
import { type ListObject, toCursorError, toList } from "./list-object.ts";
import { withNewId } from "./new-item.ts";
import type { RunObserver } from "./observer.ts";
import { type Planned, type PlannerOptions, planRun, type Recall } from "./planner.ts";
import {
  checkRepeatable,
  findRepeated,
  isKeyTaken,
  type RepeatKey,
  toFailure,
  waitForEnd,
} from "./repeat.ts";
import { WaitingRuns } from "./waiting-runs.ts";
import { Worker } from "./worker.ts";

const dayMs = 86_400_000;

export interface ResponsesOptions extends Omit<PlannerOptions, "secrets"> {
  readonly store: Store;
  readonly models: Models;
  readonly limits: Limits;
  /** Which URLs the input may have. Default: those of public hosts. */
  readonly urls?: UrlRules;
  /** From which the keys of what is sealed are made, the newest first. Default: a secret of the store's. */
  readonly sealKeys?: readonly string[];
  /** Whether what is not known is an error. */
  readonly isStrict: boolean;
  /** Whether a response that waits for the client says so. */
  readonly saysRequiresAction: boolean;
  /** What a request does whose conversation is at work. */
  readonly conversations: WhenBusy;
  readonly runs: { readonly concurrency: number; readonly leaseMs: number; readonly maxAttempts: number };
  /** How long a key of a request is kept. Default: a day. */
  readonly idempotencyMs?: number;
  /** How many background runs of an owner may wait. Default: any number. */
  readonly waitingRunsPerOwner?: number;
  readonly observer: RunObserver;
  /** Default: `Date.now`. */
  readonly now?: () => number;
}

/** A request that was accepted and has its id, but does not run yet. */
export interface PreparedRun {
  readonly id: string;
  readonly owner: string;
  readonly request: CreateRequest;
  readonly planned: Planned;
  /** The key under which a repeated request finds it. */
  readonly repeatKey: RepeatKey | undefined;
}

export class Responses {
  readonly #options: ResponsesOptions;
  readonly #planner: PlannerOptions;
  readonly #present: ResponsePresenter;
  readonly #now: () => number;
  readonly #workerName = randomUUID();
  readonly #hub = new Hub();
  readonly #line = new Line();
  readonly #leftBehind: LeftBehind;
  readonly #active: ActiveRuns;
  readonly #worker: Worker;
  readonly #waiting: WaitingRuns;

  private constructor(options: ResponsesOptions, secrets: readonly string[]) {
    const { store, runs, observer, now = Date.now, waitingRunsPerOwner = Infinity } = options;
    this.#options = options;
    this.#now = now;
    this.#planner = { ...options, secrets };
    this.#present = presenter(options);
    this.#leftBehind = new LeftBehind(runs.concurrency);
    this.#waiting = new WaitingRuns(store, waitingRunsPerOwner);
    this.#active = new ActiveRuns(store, runs.leaseMs, (error) =>
      observer.warn("The leases of running responses could not be renewed.", { error }),
    );
    this.#worker = new Worker({
      ...runs,
      store,
      active: this.#active,
      hub: this.#hub,
      planner: this.#planner,
      present: this.#present,
      observer,
      name: this.#workerName,
      now,
    });
  }

  /** Makes the service, and starts to run what waits in the store. */
  static async start(options: ResponsesOptions): Promise<Responses> {
    const secret = await options.store.keepSecret("seal", randomUUID() + randomUUID());
    // What was sealed before there were keys in the config stays readable.
    const responses = new Responses(options, [...(options.sealKeys ?? []), secret]);
    responses.#worker.start();
    return responses;
  }

  /** `recall` knows responses that are not in the store; under `repeatKey` the same request finds this one again. */
  async prepare(
    owner: string,
    body: unknown,
    { recall, repeatKey }: { recall?: Recall; repeatKey?: RepeatKey | undefined } = {},
  ): Promise<PreparedRun> {
    const prepared = await this.#prepare(owner, body, { waits: true, recall, repeatKey });
    const { conversation } = prepared.request;
    const isEarly = conversation !== undefined && prepared.planned.version === undefined;
    if (isEarly && this.#options.conversations === "reject") throw conversationBusy(conversation);
    return prepared;
  }

  async #prepare(owner: string, body: unknown, how: Preparing): Promise<PreparedRun> {
    const { limits, urls, isStrict, executors, observer } = this.#options;
    const { waits = false, recall, repeatKey, isWarmUp = false } = how;
    const { request: given, warnings } = parseCreateRequest(body, {
      limits,
      isStrict,
      isKnownTool: (tool) => executors.canExecute(tool),
      takesNoInput: isWarmUp,
      urls,
    });
    if (repeatKey) checkRepeatable(given.store);
    const request = isWarmUp || !given.store ? given : withRecalled(given, recall);
    const id = newId("resp");
    const planned = await planRun(
      { id, owner, createdAtMs: this.#now(), request, input: request.input, waits, recall, isWarmUp },
      this.#planner,
    );
    const ignored = [...warnings, ...planned.ignored];
    if (ignored.length > 0) observer.warn("Parts of a request were ignored.", { responseId: id, ignored });
    return { id, owner, request, planned, repeatKey };
  }

  /** A response that the model is not asked for: its id stands for what was sent, until the next request follows it. */
  async prepareWarmUp(
    owner: string,
    body: unknown,
    { recall }: { recall?: Recall } = {},
  ): Promise<PreparedRun> {
    return this.#prepare(owner, body, { recall, isWarmUp: true });
  }

  /** Tells that a response has begun, and that it is complete. Nothing of it is stored. */
  warmUp({ planned: { plan } }: PreparedRun, sink: EventSink): void {
    const journal = new Journal({ logsEvents: false, sink });
    const completedAtMs = this.#now();
    journal.emit({ type: "response.created", response: this.#present(planParts(plan, "in_progress", [])) });
    const ended = { ...planParts(plan, "completed", []), usage: noUsage, completedAtMs };
    journal.emit({ type: "response.completed", response: this.#present(ended) });
    journal.close();
  }

  /** The response of an earlier request under this key. Throws a 422 if that request was another one. */
  async findRepeated(owner: string, key: RepeatKey): Promise<string | undefined> {
    return findRepeated(this.#options.store, owner, key);
  }

  /** Gives a response once more: one of the background as it is, another when it has ended. Throws as `runPlain()`. */
  async repeat(owner: string, id: string, signal: AbortSignal): Promise<ResponseObject> {
    const { store } = this.#options;
    const found = await this.#find(owner, id);
    if (found.background) return this.#show(found);
    const response = await waitForEnd({ store, hub: this.#hub }, owner, id, signal);
    if (!response) throw unknownResponse(id);
    if (response.error) throw toFailure(response.error);
    return this.#show(response);
  }

  /** Throws when the model has failed. */
  async runPlain(prepared: PreparedRun, signal: AbortSignal): Promise<ResponseObject> {
    const end = await this.#run(prepared, signal, undefined).catch((error: unknown) =>
      this.#otherThan(prepared, error),
    );
    if (typeof end === "string") return this.repeat(prepared.owner, end, signal);
    if (end.failure) throw end.failure;
    return end.response;
  }

  /** The response of the same request, if that has come first. Throws the error if it is about something else. */
  async #otherThan({ owner, repeatKey }: PreparedRun, error: unknown): Promise<string> {
    const id = isKeyTaken(error) && repeatKey ? await this.findRepeated(owner, repeatKey) : undefined;
    if (id === undefined) throw error;
    return id;
  }

  /** Faults of the run are events of the stream. */
  async runStreamed(prepared: PreparedRun, sink: EventSink, signal: AbortSignal): Promise<void> {
    const end = await this.#run(prepared, signal, sink).catch((error: unknown) =>
      this.#otherThan(prepared, error),
    );
    if (typeof end === "string") await this.follow(prepared.owner, end, -1, sink, signal);
  }

  /** Enqueues a background run. Throws a 429 when its owner has too many that wait. */
  async enqueue(prepared: PreparedRun): Promise<ResponseObject> {
    await this.#waiting.enter(prepared.owner);
    const response = this.#present(planParts(prepared.planned.plan, "queued", []));
    try {
      await this.#create({ ...this.#newResponse(prepared, "queued"), events: [createdEvent(response)] });
    } catch (error) {
      if (isKeyTaken(error)) return this.get(prepared.owner, await this.#otherThan(prepared, error));
      throw toConversationError(error, prepared.request.conversation ?? "");
    }
    this.#worker.wake();
    return response;
  }

  /** Sends the events after `startingAfter`, then those that come. */
  async follow(
    owner: string,
    id: string,
    after: number,
    sink: EventSink,
    signal: AbortSignal,
  ): Promise<void> {
    const response = await this.#find(owner, id);
    const { store } = this.#options;
    const hasLog = response.background || (await store.events(owner, id, -1, 1)).length > 0;
    if (!hasLog)
      throw invalidRequest(
        "stream",
        `The response '${id}' was not made with background: true, so its events were not kept. Get it without stream.`,
      );
    await followLog({ store, hub: this.#hub, owner, id, after, sink, signal });
  }

  async get(owner: string, id: string): Promise<ResponseObject> {
    const response = await this.#find(owner, id);
    return this.#show(response);
  }

  async list(owner: string, query: ListQuery): Promise<ListObject<ResponseObject>> {
    const page = await this.#options.store.list(owner, query).catch(toCursorError);
    const data = await Promise.all(page.data.map((response) => this.#show(response)));
    return toList({ data, hasMore: page.hasMore });
  }

  async inputItems(owner: string, id: string, query: PageQuery): Promise<ListObject<InputItem>> {
    await this.#find(owner, id);
    const page = await this.#options.store.input(owner, id, query as ListOptions).catch(toCursorError);
    return toList({ ...page, data: page.data.map(shownInput) });
  }

  async remove(owner: string, id: string): Promise<{ id: string; object: "response"; deleted: true }> {
    const { request } = await this.#find(owner, id);
    // First from the store, so that no worker takes up what is being stopped.
    await this.#options.store.remove(owner, id);
    await this.#active.stop(id, "removed");
    this.#hub.ring(id);
    this.#freeConversation(fromStoredRequest(request).conversation);
    return { id, object: "response", deleted: true };
  }

  /** Ends a response that is not over. One that is over stays as it is. */
  async cancel(owner: string, id: string): Promise<ResponseObject> {
    const response = await this.#options.store.requestCancel(owner, id);
    if (!response) throw unknownResponse(id);
    if (isTerminal(response.status)) return this.#show(response);
    if (!(await this.#active.stop(id, "cancelled"))) {
      await this.#worker.cancel(id);
      await this.#active.stop(id, "cancelled"); // our own worker may have taken it at the same moment
    }
    return this.get(owner, id);
  }

  /** How many tokens the model would read, by our own count. */
  async countInputTokens(
    owner: string,
    body: unknown,
  ): Promise<{ object: "response.input_tokens"; input_tokens: number }> {
    const { planned } = await this.#prepare(owner, body, {});
    const { messages, offer } = planned.plan;
    const tools = offer.tools.map((it) => JSON.stringify(it.toOpenAI())).join("\n");
    const extra = tools === "" ? [] : [{ role: "system" as const, content: tools }];
    return { object: "response.input_tokens", input_tokens: estimateTokens([...messages, ...extra]) };
  }

  /** Makes a conversation short. Keeps nothing. */
  async compact(owner: string, body: unknown, signal: AbortSignal): Promise<CompactedResponse> {
    const { planned } = await this.#prepare(owner, body, {});
    return compactHistory(planned, this.#planner.secrets, signal);
  }

  async listModels(): Promise<readonly { id: string; ownedBy: string }[]> {
    return this.#options.models.list();
  }

  /** Throws when nothing can be kept. */
  async check(): Promise<void> {
    await this.#options.store.check();
  }

  /**
   * Takes no more background runs, and gives those that work `graceMs` to end. What then still runs is left as
   * it is in the store; whoever opens the store next goes on with it.
   */
  async drain(graceMs: number): Promise<void> {
    await this.#worker.stop();
    const timer = new AbortController();
    const timeout = new Promise((resolve) => {
      const handle = setTimeout(resolve, graceMs);
      timer.signal.addEventListener("abort", () => clearTimeout(handle));
    });
    await Promise.race([this.#active.idle(), timeout]);
    timer.abort();
    await this.#active.stopAll("shutdown");
    await this.#worker.idle();
  }

  async #run(prepared: PreparedRun, gone: AbortSignal, sink: EventSink | undefined): Promise<RunEnd> {
    const { store, observer } = this.#options;
    const { id, repeatKey } = prepared;
    // A stream that may be asked for again is written down, from the moment that it can be found.
    const logsEvents = sink !== undefined && repeatKey !== undefined;
    const firstEvent = ({ plan }: Planned) =>
      logsEvents ? [createdEvent(this.#present(planParts(plan, "in_progress", [])))] : [];
    const work = async (planned: Planned, left: AbortSignal, stopped?: AbortSignal, lease?: Lease) => {
      const { plan } = planned;
      const told = firstEvent(planned);
      for (const { data } of told) sink?.send("response.created", data);
      const journal = new Journal({
        kept: lease && { store, lease },
        logsEvents,
        sequence: told.length,
        sink,
        onCommit: logsEvents ? (events) => this.#hub.tell(id, events) : undefined,
      });
      try {
        const end = await runResponse(plan, {
          journal,
          signals: stopped ? [left, stopped] : [left],
          present: this.#present,
          isSilent: sink === undefined,
          isCreatedTold: logsEvents,
          onEvent: (event) => observer.loopEvent(event),
          now: this.#now,
        });
        observer.runEnded(end.response, end.failure);
        return end;
      } catch (error) {
        return this.#giveUp(prepared, journal, error);
      } finally {
        journal.close();
        if (repeatKey) this.#hub.ring(id);
      }
    };
    if (!prepared.request.store) return inRun(id, () => work(prepared.planned, gone));
    return this.#begin(prepared, gone, firstEvent, (planned, lease) =>
      this.#active.hold(lease, (stopped) => {
        if (!repeatKey) return work(planned, gone, stopped, lease);
        // A client that has left will ask again, and wants to know how it ended.
        return this.#leftBehind.watch(prepared.owner, gone, (left) => work(planned, left, stopped, lease));
      }),
    );
  }

  /** Creates a response that runs at once, or as soon as its conversation is free, and lets it work. */
  async #begin<T>(
    prepared: PreparedRun,
    gone: AbortSignal,
    eventsOf: (planned: Planned) => StoredEvent[],
    work: (planned: Planned, lease: Lease) => Promise<T>,
  ): Promise<T> {
    const { id, owner, request, planned } = prepared;
    const { conversation } = request;
    const create = (current: Planned) =>
      this.#create({
        ...this.#newResponse({ ...prepared, planned: current }, "in_progress"),
        events: eventsOf(current),
      });
    if (conversation === undefined) return work(planned, await create(planned));
    const { conversations: whenBusy } = this.#options;
    const leave = whenBusy === "queue" ? await this.#line.enter(conversation, gone) : () => {};
    try {
      const { createdAtMs } = planned.plan;
      const begun = await beginInTurn({
        id: conversation,
        planned,
        whenBusy,
        hub: this.#hub,
        signal: gone,
        create,
        plan: () =>
          planRun({ id, owner, createdAtMs, request, input: request.input, waits: true }, this.#planner),
      });
      return await work(begun.planned, begun.lease);
    } finally {
      leave();
      this.#freeConversation(conversation);
    }
  }

  #create(response: NewResponse): Promise<Lease> {
    return this.#options.store.create(response, this.#workerName, this.#options.runs.leaseMs);
  }

  /** Tells those who wait for a conversation that it may be their turn. */
  #freeConversation(id: string | undefined): void {
    if (id === undefined) return;
    this.#hub.ring(id);
    this.#worker.wake();
  }

  /** The run cannot be kept any more: its client is told, and nothing that was told before is taken back. */
  #giveUp({ planned: { plan } }: PreparedRun, journal: Journal, cause: unknown): RunEnd {
    const isRemoved =
      cause instanceof RunStopped || (cause instanceof StoreError && cause.code === "lost_lease");
    const failure: ApiError = isRemoved
      ? notFound("The response was deleted while it ran.", "response_deleted")
      : toApiError(cause);
    const error = toResponseError(failure);
    const completedAtMs = this.#now();
    const failed = (items: OutputItem[]) =>
      this.#present({ ...planParts(plan, "failed", items), error, usage: noUsage, completedAtMs });
    const { code, message, param } = error;
    journal.giveUp((told) => [
      { type: "error", code, message, param, error },
      { type: "response.failed", response: failed(told) },
    ]);
    const response = failed([]);
    this.#options.observer.runEnded(response, failure);
    return { response, failure };
  }

  #newResponse(prepared: PreparedRun, status: NewResponse["status"]): Omit<NewResponse, "events"> {
    const { id, owner, request, planned, repeatKey } = prepared;
    const { conversation } = request;
    const { idempotencyMs = dayMs } = this.#options;
    return {
      id,
      owner,
      status,
      background: request.background,
      model: planned.plan.model,
      createdAtMs: planned.plan.createdAtMs,
      previousResponseId: request.previous_response_id ?? null,
      isClosed: request.tool_choice === "none",
      ...(conversation !== undefined && {
        conversation: {
          id: conversation,
          mustBeFree: status === "in_progress" || this.#options.conversations === "reject",
          // One that waits is planned when it is its turn.
          ...(status === "in_progress" && planned.version !== undefined && { version: planned.version }),
        },
      }),
      ...(repeatKey && { idempotency: { ...repeatKey, untilMs: this.#now() + idempotencyMs } }),
      request: toStoredRequest(request),
      input: planned.input.map((item) => withNewId(itemWithoutCredentials(item))),
      credentials: request.background ? this.#sealedCredentials(owner, request, planned) : undefined,
    };
  }

  /** Another process may have to go on with the run, and then needs them. */
  #sealedCredentials(owner: string, { tools }: CreateRequest, { input }: Planned): string | undefined {
    const found = credentialsOf({ tools, input: input as readonly InputItem[] });
    return found && sealer(this.#planner.secrets, owner).seal("credentials", found);
  }

  async #find(owner: string, id: string): Promise<StoredResponse> {
    const response = await this.#options.store.get(owner, id);
    if (!response) throw unknownResponse(id);
    return response;
  }

  async #show(response: StoredResponse): Promise<ResponseObject> {
    const output = await this.#options.store.output(response.owner, response.id);
    return this.#present(storedParts(response, output));
  }
}

interface Preparing {
  readonly waits?: boolean;
  readonly recall?: Recall | undefined;
  readonly repeatKey?: RepeatKey | undefined;
  readonly isWarmUp?: boolean;
}

/** What follows a response that is not in the store, and is itself stored, has to be stored as a whole. */
function withRecalled(request: CreateRequest, recall: Recall | undefined): CreateRequest {
  const { previous_response_id: previous, input } = request;
  const before = previous === undefined ? undefined : recall?.(previous);
  if (!before) return request;
  const items = before.map(({ item }) => item as unknown as InputItem);
  return { ...request, previous_response_id: undefined, input: [...items, ...input] };
}

/** The first event of a response whose events are kept. */
function createdEvent(response: ResponseObject): StoredEvent {
  return { sequence: 0, data: JSON.stringify({ type: "response.created", sequence_number: 0, response }) };
}

function unknownResponse(id: string): ApiError {
  return notFound(`Response with id '${id}' not found.`, "response_not_found");
}
