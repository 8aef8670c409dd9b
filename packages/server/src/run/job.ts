// Runs one job to its end, from where the last process left it.

import type { LoopEvent } from "rondo/loop";
import { toApiError, toResponseError } from "../engine/failure.ts";
import { Journal } from "../engine/journal.ts";
import { readProgress } from "../engine/resume.ts";
import { endResponse, type RunEnd, runResponse } from "../engine/run-response.ts";
import { type WrittenTrace, writtenIn } from "../engine/run-tracer.ts";
import { sealer } from "../engine/seal.ts";
import { type RunStep, readSteps, toStep } from "../engine/steps.ts";
import { emptyOffer } from "../executor/offer.ts";
import { ApiError } from "../protocol/api-error.ts";
import { withCredentials } from "../protocol/credentials.ts";
import type { EventBody } from "../protocol/events.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import { fromStoredRequest, type RequestTrace, traceOfStored } from "../protocol/stored-request.ts";
import type { Job } from "../store/run-queue.ts";
import type { Store, StoredEvent, StoredResponse, StoredRun } from "../store/store.ts";
import { isStoreError } from "../store/store-error.ts";
import { RunStopped } from "./active-runs.ts";
import { ModelWait } from "./model-wait.ts";
import { type Planned, type PlannerOptions, planRun, type RunRequest } from "./planner.ts";
import type { RunParts } from "./run-parts.ts";
import { noteDecisions, tracedBy } from "./run-traces.ts";

export interface JobOptions extends RunParts {
  readonly maxAttempts: number;
  readonly signal: AbortSignal;
  /** How long a model server may be away before the run fails. Default: 0, its failure is final. */
  readonly modelWaitMs?: number | undefined;
  /** Lets other runs work while this one waits. */
  readonly park: (wait: () => Promise<void>) => Promise<void>;
  /** Called when the run got further than a crash could have been its fault. */
  readonly onProgress: () => void;
}

const eventsPage = 1000;
/** How many of its earlier starts the span of a run is linked to. */
const maxLinkedStarts = 10;
/** Marks the unsealed credentials of older versions; see the migrations of the SQLite store. */
const plainCredentials = "plain.";

/** Gives how it ended. Throws when the run is stopped, or cannot be kept: another worker may have to continue it. */
export async function runJob(job: Job, options: JobOptions): Promise<ResponseStatus> {
  const { store, news, observer, audit, planner, now, signal, onProgress, traces } = options;
  const { response } = job;
  const stored = await store.resume(job);
  const events = await allEvents(store, response);
  const steps = stepsOf(job, stored, planner);
  const isReadable = !(steps instanceof ApiError);
  const progress = readProgress(response.id, isReadable ? steps : [], stored.output, events);
  const written = await writtenTrace(store, response, stored);
  const isHandedOver = () => signal.reason instanceof RunStopped && signal.reason.why !== "cancelled";
  // It may have been stopped while all this was read.
  if (isHandedOver()) throw signal.reason;
  const span = options.telemetry?.begin({ ...response, ...earlierSpans(response, isReadable ? steps : []) });
  const tracer = traces.begin({ ...response, isStored: true, attempt: job.attempts, written });
  if (written.next === 0) noteDecisions(tracer, stored.input);
  const journal = new Journal({
    kept: { store, lease: job },
    logsEvents: true,
    sequence: stored.lastSequence + 1,
    onCommit: (events) => news.publish(response.id, events),
    tracer,
  });
  // Nothing more is written when the process ends: the next worker continues from there.
  const onStop = () => {
    if (isHandedOver()) journal.close();
  };
  signal.addEventListener("abort", onStop);
  const hasProgressed = firstRoundEnds();
  const modelWait = new ModelWait({
    limitMs: options.modelWaitMs ?? 0,
    awaySinceMs: progress.awaySinceMs,
    signal,
    now,
    park: options.park,
    onAway: (error) => {
      const { name, message, code } = error as Error & { code?: string };
      tracer.note({ type: "model.away", error: { type: code ?? name, message } });
      observer.warn("A background run waits for its model server.", {
        owner: response.owner,
        responseId: response.id,
        cause: message,
      });
    },
  });
  if (span?.context) journal.step(toStep({ type: "traced", ...span.context }));
  let ended: RunEnd | undefined;
  const context = {
    journal,
    tracer: tracedBy(tracer, span?.tracer),
    modelWait,
    signals: [signal],
    progress,
    audit,
    onEvent: (event: LoopEvent) => {
      observer.loopEvent(event, response.id);
      if (hasProgressed(event)) onProgress();
    },
    now,
  };
  try {
    const { input, ...request } = storedRequest(response, stored, planner.secrets);
    const head = { ...response, request, messages: [], offer: emptyOffer, executors: planner.executors };
    const planned: Planned | ApiError | "cancelled" =
      refusal(job, options.maxAttempts) ??
      (isReadable ? undefined : steps) ??
      (await planWhenKnown({ ...head, input, progress }, planner, modelWait));
    ended = await (typeof planned === "object" && "plan" in planned
      ? runResponse(planned.plan, context)
      : endResponse(head, context, planned));
    if (isHandedOver()) throw signal.reason;
    observer.runEnded(ended.response, ended.failure, response.owner);
    return ended.response.status;
  } finally {
    span?.end(isHandedOver() ? undefined : ended);
    signal.removeEventListener("abort", onStop);
    journal.close();
    traces.end(tracer);
  }
}

/** The spans that a start of a run is linked to: of the request, which is over, and of the starts before. */
function earlierSpans({ request }: StoredResponse, steps: readonly RunStep[]) {
  const caller = traceOfStored(request);
  const starts: RequestTrace[] = steps.filter((step) => step.type === "traced");
  return {
    links: [...(caller ? [caller] : []), ...starts.slice(-maxLinkedStarts)],
    ...(starts.length > 0 && { attempt: starts.length + 1 }),
  };
}

/** Fails a foreground run whose process died: its client is gone. */
export async function failInterrupted(job: Job, options: JobOptions): Promise<ResponseStatus> {
  const { store, now } = options;
  const { lastSequence } = await store.resume(job);
  // A stream that can be repeated has its events in the log: what it began is ended there too.
  if (lastSequence >= 0) return runJob(job, options);
  const update = { status: "failed", completedAtMs: now(), error: toResponseError(interrupted()) } as const;
  await store.commit(job, { update, isDurable: true });
  return update.status;
}

function interrupted(): ApiError {
  return new ApiError(
    "The server stopped while it worked on this response. Only background responses go on after that.",
    { status: 500, type: "server_error", code: "interrupted" },
  );
}

/** The steps of a run, or why it cannot continue: no attempt would change that. */
function stepsOf({ response }: Job, { steps }: StoredRun, planner: PlannerOptions): RunStep[] | ApiError {
  try {
    return readSteps(steps, limitsOf(response, planner));
  } catch (error) {
    return toApiError(error, response.owner);
  }
}

/** The limits of a run, for its old steps. */
function limitsOf({ request }: StoredResponse, { maxAgenticTurns }: PlannerOptions) {
  const {
    max_agentic_turns: own = maxAgenticTurns,
    max_tool_calls: maxToolCalls = Number.POSITIVE_INFINITY,
  } = fromStoredRequest(request);
  return { maxTurns: Math.min(own, maxAgenticTurns), maxToolCalls };
}

export function toStoredEvent({ type, ...rest }: EventBody, sequence: number): StoredEvent {
  return { sequence, data: JSON.stringify({ type, sequence_number: sequence, ...rest }) };
}

/** The request as it was made, with the credentials for MCP servers. */
function storedRequest(
  { owner, request }: StoredResponse,
  { input, credentials }: StoredRun,
  secrets: readonly string[],
) {
  const stored = { ...fromStoredRequest(request), input };
  if (credentials === undefined) return stored;
  const unsealed = credentials.startsWith(plainCredentials)
    ? credentials.slice(plainCredentials.length)
    : sealer(secrets, owner).unseal("credentials", credentials);
  // Sealed with a key that is no longer in the config: the servers then report what is missing.
  return unsealed === undefined ? stored : withCredentials(stored, unsealed);
}

/** Why a claimed job is not run. */
function refusal({ response, attempts }: Job, maxAttempts: number): ApiError | "cancelled" | undefined {
  if (!response.background) return interrupted();
  if (response.isCancelRequested) return "cancelled";
  if (attempts <= maxAttempts) return undefined;
  return new ApiError(
    `The server died ${attempts - 1} times because of this response, as far as is known, and it got no further. A tool of it may block or end the process: the server's log names it.`,
    { status: 500, type: "server_error", code: "too_many_attempts" },
  );
}

/** Plans a run. If no server has its model, but one of them does not answer, that is waited for. */
async function planWhenKnown(
  requested: RunRequest,
  planner: PlannerOptions,
  modelWait: ModelWait,
): Promise<Planned | ApiError | "cancelled"> {
  while (true) {
    try {
      return await planRun(requested, planner);
    } catch (error) {
      if (!modelWait.isWorthwhile(error)) return toRefusal(error, requested.owner);
      const isStopped = await modelWait.wait(error).then(
        () => false,
        () => true,
      );
      if (isStopped) return "cancelled";
    }
  }
}

/** Why a run cannot be planned. A store failure is retried, not final. */
function toRefusal(error: unknown, owner: string): ApiError {
  if (isStoreError(error, "unavailable")) throw error;
  return toApiError(error, owner);
}

async function allEvents(store: Store, { owner, id }: StoredResponse): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  while (true) {
    const page = await store.events(owner, id, events.length - 1, eventsPage);
    events.push(...page);
    if (page.length < eventsPage) return events;
  }
}

/** What earlier processes have written of the trace. Only a run that was interrupted has any of it. */
async function writtenTrace(
  store: Store,
  { owner, id }: StoredResponse,
  { trace }: StoredRun,
): Promise<WrittenTrace> {
  return writtenIn(trace.next === 0 ? [] : await store.trace(owner, id, -1), trace);
}

/**
 * Tells once, by the events of a run, that a round whose tools ran in this process is over. Less is not enough: a model
 * that calls a tool which ends the process, and reads that it did, may well call it again.
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
