// Runs a response: the one path for plain, streamed and background requests, from the start or after a crash.

import type { Message, Tracer } from "rondo";
import { type LoopEvent, type LoopOptions, type RunReason, type RunState, runToEnd } from "rondo/loop";
import { type Audit, AuditUnavailable } from "../audit/audit-log.ts";
import { hideAddress, seesAddresses } from "../protocol/addresses.ts";
import type { ApiError } from "../protocol/api-error.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { responseObject } from "../protocol/response-object.ts";
import { AnySignal } from "./any-signal.ts";
import { summarize, withSummary } from "./compaction.ts";
import { callDecider } from "./decide-call.ts";
import { toApiError, toResponseError } from "./failure.ts";
import type { Journal } from "./journal.ts";
import { Output } from "./output.ts";
import { loopOptions, type Plan, type PlannedCompaction } from "./plan.ts";
import { Recorder, type RunOutcome } from "./recorder.ts";
import { planParts } from "./response-parts.ts";
import type { Progress } from "./resume.ts";
import { RunAudit } from "./run-audit.ts";
import { turnId } from "./turn-id.ts";
import { noUsage, toUsage } from "./usage.ts";

export interface RunContext {
  readonly journal: Journal;
  /** At least one. Aborted when the client disconnects, or the response is cancelled. */
  readonly signals: readonly AbortSignal[];
  /** Whether nobody follows the run before its end. Default: false. */
  readonly isSilent?: boolean | undefined;
  /** Whether `response.created` was sent. Default: false, but true for a resumed run. */
  readonly isCreatedTold?: boolean | undefined;
  /** What an earlier start of this run left. */
  readonly progress?: Progress | undefined;
  /** Waits for a model server that is away. Default: its failure ends the run. */
  readonly modelWait?: ModelWait | undefined;
  /** The audit log. Default: none. */
  readonly audit?: Audit | undefined;
  /** Receives every event, for logs and metrics. */
  readonly onEvent?: ((event: LoopEvent) => void) | undefined;
  /** Receives what happens in the loop, and when. */
  readonly tracer?: Tracer | undefined;
  readonly now: () => number;
}

/** Decides about failures of the model server. */
export interface ModelWait {
  readonly awaySinceMs: number | undefined;
  isWorthwhile(error: unknown): error is Error;
  wait(error: Error): Promise<void>;
  isBack(): void;
}

export interface RunEnd {
  readonly response: ResponseObject;
  /** Why it failed, if it did. */
  readonly failure: ApiError | undefined;
}

/** The part of a plan that is known before planning. */
export type RunHead = Pick<
  Plan,
  | "id"
  | "owner"
  | "request"
  | "model"
  | "createdAtMs"
  | "thoughts"
  | "sealThought"
  | "sealCalls"
  | "approvalIdFor"
  | "messages"
  | "offer"
  | "executors"
  | "announcements"
  | "approved"
  | "denied"
>;

/**
 * Runs to the end, and returns the final response, also if the model failed. Throws only if the run cannot be stored:
 * the store fails, or another worker took the run over.
 */
export async function runResponse(plan: Plan, context: RunContext): Promise<RunEnd> {
  return record(plan, context, async (parts) => {
    const release = plan.offer.hold?.();
    try {
      return await runUntilAnswered(plan, context, parts);
    } finally {
      release?.();
      plan.promptWatch?.forgetLonger(maxWatchedCharacters);
    }
  });
}

/** The longest prompt that the next request of its conversation is compared with. */
const maxWatchedCharacters = 500_000;

/** Ends a response without running it: with an error, or as cancelled. */
export async function endResponse(
  head: RunHead,
  context: RunContext,
  why: ApiError | "cancelled",
): Promise<RunEnd> {
  return record(head, context, async () => {
    if (why !== "cancelled") throw why;
    return "aborted";
  });
}

/** Announces the run, does the work, and records the end. */
async function record(
  plan: RunHead,
  context: RunContext,
  work: (parts: LoopParts) => Promise<RunReason>,
): Promise<RunEnd> {
  const { journal, progress } = context;
  const output = new Output({
    journal,
    responseId: plan.id,
    thoughts: plan.thoughts,
    sealThought: plan.sealThought,
    sealCalls: plan.sealCalls,
    annotate: plan.offer.annotate,
    items: progress?.items,
    openText: progress?.openText,
    answer: progress?.answer,
  });
  if (!progress?.isAnnounced && !context.isSilent) {
    const response = responseObject(planParts(plan, "in_progress", output.items));
    if (!progress && !context.isCreatedTold) journal.emit({ type: "response.created", response });
    if (plan.request.background) journal.update({ status: "in_progress" });
    journal.emit({ type: "response.in_progress", response });
  }
  // Without a store there are no failed writes.
  using anySignal = new AnySignal(
    plan.request.store ? [...context.signals, journal.broken] : context.signals,
  );
  const { signal } = anySignal;
  const messages = [...plan.messages, ...(progress?.messages ?? [])];
  const recorder = new Recorder({ journal, output, plan, messages, signal, progress });
  const audit = context.audit && new RunAudit(context.audit, plan);

  let outcome: RunOutcome;
  let failure: ApiError | undefined;
  try {
    // Text that a crash cut off is closed; the model is asked again.
    output.closeText("incomplete");
    if (!progress?.isAnnounced) {
      for (const item of plan.announcements ?? []) output.announce(item);
      recorder.begin(plan.approved ?? []);
      audit?.begin();
    }
    const reason = await work({ recorder, output, messages, signal, audit });
    outcome = recorder.finish(reason);
    recorder.abandon("cancelled");
  } catch (error) {
    if (journal.failure) throw journal.failure.error;
    // A background run can wait: it is tried again, until the log can be written.
    if (error instanceof AuditUnavailable && plan.request.background) throw error;
    failure = toApiError(error, plan.owner);
    recorder.abandon("The response has failed before this call had an answer.");
    outcome = { status: "failed", incompleteReason: null };
  } finally {
    audit?.end(output.items);
  }
  if (journal.failure) throw journal.failure.error;

  const parts = {
    ...planParts(plan, outcome.status, output.items),
    completedAtMs: context.now(),
    incompleteReason: outcome.incompleteReason,
    error: failure ? toResponseError(failure) : null,
    usage: recorder.usage ?? noUsage,
    warnings: recorder.warnings,
  };
  const response = responseObject(parts);
  journal.update({
    status: parts.status,
    completedAtMs: parts.completedAtMs,
    usage: parts.usage,
    ...(parts.error && { error: parts.error }),
    ...(parts.incompleteReason && { incompleteReason: parts.incompleteReason }),
  });
  if (parts.error) {
    const { code, message, param } = parts.error;
    journal.emit({ type: "error", code, message, param, error: parts.error });
    journal.emit({ type: "response.failed", response });
  } else {
    const isCut = outcome.status === "incomplete" || outcome.status === "cancelled";
    journal.emit({ type: isCut ? "response.incomplete" : "response.completed", response });
  }
  await journal.settle();
  return { response, failure };
}

interface LoopParts {
  readonly recorder: Recorder;
  readonly output: Output;
  readonly messages: Message[];
  readonly signal: AbortSignal;
  readonly audit: RunAudit | undefined;
}

/** Runs the loop, again from where it was when the model server went away. */
async function runUntilAnswered(plan: Plan, context: RunContext, parts: LoopParts): Promise<RunReason> {
  const { modelWait } = context;
  const { recorder, signal } = parts;
  let state = context.progress?.state;
  let isCompacted = plan.compaction === undefined;
  while (true) {
    try {
      if (plan.compaction && !isCompacted) await compact(plan, plan.compaction, context, parts);
      isCompacted = true;
      return plan.compaction?.isAll ? "completed" : await runLoop(plan, context, parts, state);
    } catch (error) {
      if (!isCompacted && signal.aborted) return "aborted";
      if (!modelWait?.isWorthwhile(error)) throw error;
      // Text that broke off is closed; the model is asked again.
      parts.output.closeText("incomplete");
      recorder.noteAway(modelWait.awaySinceMs ?? context.now());
      await context.journal.settle();
      await modelWait.wait(error).catch(() => {});
      if (signal.aborted) return "aborted";
      state = recorder.state;
    }
  }
}

/** Puts a summary in place of the conversation, once: a run that continues after a crash has it in its output. */
async function compact(
  { provider, messages: planned }: Plan,
  { seal, unseal }: PlannedCompaction,
  { journal, onEvent, tracer }: RunContext,
  { recorder, output, messages, signal }: LoopParts,
): Promise<void> {
  let sealed = output.items.find((item) => item.type === "compaction")?.encrypted_content;
  if (sealed === undefined) {
    const { text, usage } = await summarize(planned, { provider, signal, onEvent, tracer });
    recorder.addUsage(usage);
    sealed = seal(text);
    const item = { type: "compaction", id: "", encrypted_content: sealed } as const;
    output.announce({ idPrefix: "cmp", added: item, events: [], done: item });
    // Before the end, which only a run in progress may have; and a crash must not cost another summary.
    await journal.settle();
  }
  const summary = unseal(sealed);
  if (summary !== undefined) messages.splice(0, planned.length, ...withSummary(planned, summary));
}

/** As later requests read it from the item. Where an MCP server of the config is, owners need not know. */
function wordFailure({ owner, offer }: Plan, { error, tool }: { error: string; tool: string }): string {
  const isOfConfig = offer.find(tool)?.identity.host === "config";
  return isOfConfig && !seesAddresses(owner) ? hideAddress(error) : error;
}

/** Runs the loop to its end, and gives why it ended. */
async function runLoop(
  plan: Plan,
  context: RunContext,
  parts: LoopParts,
  state: RunState | undefined,
): Promise<RunReason> {
  const { journal, onEvent, tracer, progress, modelWait } = context;
  const { recorder, output, messages, signal, audit } = parts;
  let reason: RunReason = "aborted";
  const take = (event: LoopEvent): Promise<void> | undefined => {
    recorder.accept(event);
    if (event.type === "model.finished" && modelWait) {
      if (modelWait.awaySinceMs !== undefined) journal.tracer?.note({ type: "model.back" });
      modelWait.isBack();
    }
    if (event.type === "run.finished") {
      reason = event.reason;
      return undefined;
    }
    // The end of an answer is written with what follows at once: the start of a tool, or the end of the run.
    const isOfTool = event.type === "tool.started" || event.type === "tool.finished";
    const isDue = isOfTool || (event.type !== "model.finished" && journal.isHeldBack);
    const settled = isDue ? journal.settle() : undefined;
    return settled ? settled.then(() => journal.pause) : journal.pause;
  };
  const options: LoopOptions = {
    ...loopOptions(plan),
    decideCall: callDecider(plan, progress),
    ...(state && { state }),
    onUsage: (usage) => recorder.addUsage(toUsage(usage)),
    asksForWholeAnswers: context.isSilent === true,
    tellsCallPieces: false,
    describeFailure: (failure) => wordFailure(plan, failure),
    turnIdFor: (callId) => turnId(plan.id, output.answer, callId),
    ...(tracer && { onTrace: tracer }),
    signal,
  };
  await runToEnd(messages, options, (event) => {
    onEvent?.(event);
    // First: the log has a call before the store knows of it, and before it runs.
    const audited = audit?.accept(event);
    return audited ? audited.then(() => take(event)) : take(event);
  });
  return reason;
}
