// Turns the events of the loop into items of the output and steps of the run.

import type { Message } from "rondo";
import { type LoopEvent, type RunReason, type RunState, toolSearchName } from "rondo/loop";
import { checkUpdate } from "../executor/call-update.ts";
import type { CallItems, CallUpdate } from "../executor/executor.ts";
import { functionItems } from "../executor/function/function-items.ts";
import { localHost, localLabel } from "../executor/local/local-executor.ts";
import { isOfServer } from "../executor/tool-identity.ts";
import { isServerSearch, searchOutput } from "../executor/tool-search/tool-search-executor.ts";
import type { OutputItem } from "../protocol/items.ts";
import type { IncompleteReason, ResponseUsage, ResponseWarning } from "../protocol/response.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import type { ApprovalRequest } from "./approval-id.ts";
import type { Journal } from "./journal.ts";
import type { Output } from "./output.ts";
import type { Plan } from "./plan.ts";
import { type NewStep, type StoredCall, toStep } from "./steps.ts";
import { addUsage, estimateUsage, noUsage } from "./usage.ts";

export interface RecorderOptions {
  readonly journal: Journal;
  readonly output: Output;
  readonly plan: Pick<Plan, "offer" | "executors" | "request" | "approvalIdFor">;
  /** The conversation as the model sees it; grows with the run. */
  readonly messages: Message[];
  readonly signal: AbortSignal;
  /** What an earlier start of the run left. */
  readonly progress?:
    | {
        readonly openCalls: readonly StoredCall[];
        readonly usage: ResponseUsage | undefined;
        readonly state: RunState | undefined;
      }
    | undefined;
}

/** How a run ended. */
export interface RunOutcome {
  readonly status: ResponseStatus;
  readonly incompleteReason: IncompleteReason | null;
}

type AnswerCall = Omit<StoredCall, "shown"> & { readonly decision: "run" | "leave" | "ask" | "reject" };

export class Recorder {
  readonly #options: RecorderOptions;
  /** The calls of the answer that is being read. */
  #calls: AnswerCall[] = [];
  /** The calls of the last answer that are still without a result. */
  #open: Map<string, StoredCall>;
  #usage: ResponseUsage | undefined;
  /** The part of it that no step has yet. */
  #unstoredUsage: ResponseUsage | undefined;
  /** Whether the steps have that the model server is away. */
  #isAwayNoted = false;
  /** The state of the loop, and whether the steps have it. */
  #state: RunState | undefined;
  #isStateStored = true;

  constructor(options: RecorderOptions) {
    const { progress } = options;
    this.#options = options;
    this.#open = callsById(progress?.openCalls ?? []);
    this.#usage = progress?.usage;
    this.#state = progress?.state;
  }

  /** What the client should know: warnings with a code. The others are for the log. */
  readonly warnings: ResponseWarning[] = [];

  /** How far the loop has come. */
  get state(): RunState | undefined {
    return this.#state;
  }

  get usage(): ResponseUsage | undefined {
    return this.#usage;
  }

  /** Adds what a request to the model cost: stored with the next step. */
  addUsage(usage: ResponseUsage): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#unstoredUsage = addUsage(this.#unstoredUsage, usage);
  }

  accept(event: LoopEvent): void {
    const { output } = this.#options;
    if ("state" in event && event.state !== this.#state) {
      this.#state = event.state;
      this.#isStateStored = false;
    }
    switch (event.type) {
      case "model.started":
        output.answer += 1;
        output.carryCalls(); // as part of the next answer: calls that follow are not of the same one
        return;
      case "text.delta":
        output.addText("message", event.text);
        return;
      case "thinking.delta":
        output.addText("reasoning", event.text);
        return;
      case "call.ready":
        this.#noteCall(event.id, event.name, JSON.stringify(event.input), event.decision);
        return;
      case "call.rejected":
        this.#noteCall(event.id, event.name, event.raw, "reject", event.error);
        return;
      case "model.finished":
        this.#endAnswer(event);
        return;
      case "tool.started":
        this.#step({ type: "call.started", callId: event.id });
        return;
      case "tool.progress":
        this.#update(event.id, event.value);
        return;
      case "tool.finished":
        this.#answer(event);
        return;
      case "warning":
        if (event.code !== undefined) this.warnings.push({ code: event.code, message: event.message });
        return;
      default:
      // Pieces of a call are shown when the whole is known to be valid.
    }
  }

  /** Shows calls of an earlier answer that are about to run, because a person allowed them. */
  begin(approved: readonly ApprovalRequest[]): void {
    if (approved.length === 0) return;
    const calls = approved.map(({ id, identity, arguments: text }): StoredCall => {
      const { label, name } = identity;
      const items = this.#itemsOf(this.#options.plan.offer.findSame(identity));
      const shown = this.#beginCall(items, { label, name, arguments: text, approvalId: id });
      return { callId: id, name, arguments: text, identity, isRejected: false, shown };
    });
    this.#open = callsById(calls);
    this.#step({ type: "approved", calls });
  }

  /** Shows an update of a running call. Values of other tools are not shown. */
  #update(callId: string, value: unknown): void {
    const call = this.#open.get(callId);
    if (!call || !("item" in call.shown) || !reportsUpdates(call)) return;
    const { event, item, keep } = readUpdate(value);
    if (item) {
      const shown = {
        ...call.shown,
        item: { ...call.shown.item, fields: { ...call.shown.item.fields, ...item } },
      };
      this.#open.set(callId, { ...call, shown });
    }
    if (event) this.#options.output.emitFor(call.shown.item, [event]);
    if (item || keep !== undefined)
      this.#step({
        type: "call.updated",
        callId,
        ...(item && { item }),
        ...(keep !== undefined && { keep }),
      });
  }

  /** Answers a call of the server. */
  #answer({ id, message, result, isError }: Extract<LoopEvent, { type: "tool.finished" }>): void {
    const { output, messages } = this.#options;
    const call = this.#open.get(id);
    messages.push(message);
    this.#step({ type: "call.finished", callId: id, message });
    this.#open.delete(id);
    if (!call || !("item" in call.shown)) return;
    const { item } = reportsUpdates(call) ? readUpdate({ item: Object(result).item }) : {};
    const shown = call.shown.item;
    output.finishCall(
      this.#itemsFor(call, call.shown.type),
      { ...shown, fields: { ...shown.fields, ...item } },
      isError ? { error: message.content } : { output: message.content },
    );
    if (call.shown.type !== "tool_search_call") return;
    const found = { ...searchOutput(shown.id, result), id: "" } as OutputItem;
    output.announce({ idPrefix: "tso", added: found, events: [], done: found });
  }

  /** Shows the calls that wait for the client, and gives how the run ended. */
  finish(reason: RunReason): RunOutcome {
    const { journal, output, plan } = this.#options;
    const runsNothing = plan.request.tool_choice === "none";
    const ended = (status: ResponseStatus, incompleteReason: IncompleteReason | null = null) => ({
      status,
      incompleteReason,
    });
    switch (reason) {
      case "client_calls":
        output.carryCalls(true);
        for (const { name, arguments: text, shown } of this.#open.values())
          if ("clientCallId" in shown) this.#addClientCall(name, text, shown.clientCallId);
        for (const { identity, arguments: text, shown } of this.#open.values())
          if ("approvalId" in shown && identity) {
            const { label, name } = identity;
            journal.tracer?.note({ type: "approval.asked", callId: shown.approvalId, name });
            output.addApprovalRequest({ id: shown.approvalId, server_label: label, name, arguments: text });
          }
        return ended(runsNothing || !this.#waitsForClient() ? "completed" : "requires_action");
      case "max_turns":
        return ended("incomplete", "max_agentic_turns");
      case "max_tool_calls":
        return ended("incomplete", "max_tool_calls");
      case "length":
        return ended("incomplete", "max_output_tokens");
      case "aborted":
        return ended("cancelled", "cancelled");
      default:
        if (this.#state?.finishReason === "content_filter") return ended("incomplete", "content_filter");
        return ended("completed");
    }
  }

  /** Finishes open text and calls at the end of a run. */
  abandon(why: string): void {
    const { output, plan } = this.#options;
    output.closeText("incomplete");
    for (const call of this.#open.values()) {
      const { shown } = call;
      if (!("item" in shown)) continue;
      try {
        output.finishCall(this.#itemsFor(call, shown.type), shown.item, { error: why });
      } catch {
        // An executor that cannot say how its item ends must not keep the run from ending.
        output.finishCall(plan.executors.itemsOf("mcp_call"), shown.item, { error: why });
      }
    }
    this.#open.clear();
    output.carryCalls();
  }

  /**
   * Notes that the model server is away, and what an answer cost that broke off, for a later start of the run: the limit
   * of the wait still holds then.
   */
  noteAway(sinceMs: number): void {
    const usage = this.#takeUnstoredUsage();
    if (this.#isAwayNoted && !usage) return;
    this.#isAwayNoted = true;
    this.#step({ type: "model.away", sinceMs, ...(usage && { usage }) });
  }

  #takeUnstoredUsage(): ResponseUsage | undefined {
    const usage = this.#unstoredUsage;
    this.#unstoredUsage = undefined;
    return usage;
  }

  #waitsForClient(): boolean {
    return [...this.#open.values()].some(({ shown }) => "clientCallId" in shown);
  }

  /** Shows a call that the client runs, as the client knows the tool. */
  #addClientCall(wireName: string, text: string, callId: string): void {
    const { output, plan } = this.#options;
    const offered = plan.offer.find(wireName);
    // Where nothing runs here, the client also gets calls of tools that are not its own.
    const items =
      offered && !offered.runsHere ? offered.items : functionItems({ type: "function", name: wireName });
    const call = { label: "", name: wireName, arguments: text, callId };
    output.finishCall(items, output.beginCall(items, call), { output: "" });
  }

  #noteCall(
    callId: string,
    name: string,
    text: string,
    decision: AnswerCall["decision"],
    error?: string,
  ): void {
    if (this.#open.has(callId)) return; // of an earlier start of the run, and shown already
    const found = this.#options.plan.offer.find(name);
    this.#calls.push({
      callId,
      name: found?.tool.wireName ?? name,
      arguments: text,
      ...(found && { identity: found.identity }),
      isRejected: decision === "reject",
      ...(error !== undefined && { error }),
      decision,
    });
  }

  #endAnswer({ message, finishReason, usage }: Extract<LoopEvent, { type: "model.finished" }>): void {
    const { output, messages, signal } = this.#options;
    const calls = this.#calls;
    this.#calls = [];
    this.#isAwayNoted = false;
    const isCut = signal.aborted || (finishReason === "length" && calls.length === 0);
    output.closeText(isCut ? "incomplete" : "completed");
    // What was reported is added already.
    if (!usage) this.addUsage(estimateUsage(messages, message));
    const cost = this.#takeUnstoredUsage() ?? noUsage;
    messages.push(message);
    const shown = calls.map((call) => this.#show(call));
    this.#open = callsById(shown);
    this.#step({ type: "answer", answer: output.answer, message, usage: cost, calls: shown });
  }

  #show({ decision, ...call }: AnswerCall): StoredCall {
    const { output, plan } = this.#options;
    const { offer, approvalIdFor } = plan;
    const { identity, arguments: text } = call;
    if (decision === "leave") return { ...call, shown: { clientCallId: output.newId("call") } };
    if (decision === "ask" && identity && approvalIdFor)
      return { ...call, shown: { approvalId: approvalIdFor({ identity, arguments: text }, output.mark) } };
    const offered = identity && offer.findSame(identity);
    const { label, name } = offered?.runsHere ? offered.identity : { label: localLabel, name: call.name };
    const items = this.#isSearch(call) ? plan.executors.itemsOf("tool_search_call") : this.#itemsOf(offered);
    return { ...call, shown: this.#beginCall(items, { label, name, arguments: text }) };
  }

  /** Whether a call searches for tools, and the client knows items of such calls. */
  #isSearch({ name, identity, isRejected }: Omit<StoredCall, "shown">): boolean {
    const { request } = this.#options.plan;
    return name === toolSearchName && !identity && !isRejected && (request.tools ?? []).some(isServerSearch);
  }

  #beginCall(items: CallItems, call: Parameters<Output["beginCall"]>[1]) {
    return { item: this.#options.output.beginCall(items, call), type: items.type };
  }

  /** The items of a call that is shown: of its tool if that is still offered, otherwise of whichever executor has them. */
  #itemsFor({ identity }: StoredCall, type = "mcp_call"): CallItems {
    const { offer, executors } = this.#options.plan;
    const items = identity && offer.findSame(identity)?.items;
    return items?.type === type ? items : executors.itemsOf(type);
  }

  /** The items of calls that are answered here, also of those that cannot run. */
  #itemsOf(offered: { readonly runsHere: boolean; readonly items: CallItems } | undefined): CallItems {
    return offered?.runsHere ? offered.items : this.#options.plan.executors.itemsOf("mcp_call");
  }

  #step(step: NewStep): void {
    const { journal } = this.#options;
    if (!journal.keepsSteps) return;
    const state = this.#isStateStored ? undefined : this.#state;
    this.#isStateStored = true;
    journal.step(toStep(state ? { ...step, state } : step));
  }
}

/** Most answers have no calls, and nothing is ever added to the map of none. */
const noOpenCalls = new Map<string, StoredCall>();

function callsById(calls: readonly StoredCall[]): Map<string, StoredCall> {
  return calls.length === 0 ? noOpenCalls : new Map(calls.map((call) => [call.callId, call]));
}

/** Whether values of a call are updates of an executor. Those of other streaming tools are their own business. */
function reportsUpdates({ identity }: StoredCall): boolean {
  return identity !== undefined && identity.host !== localHost && !isOfServer(identity);
}

/** An update of an executor; nothing if it cannot be shown or stored. */
function readUpdate(value: unknown): CallUpdate {
  try {
    return checkUpdate(value);
  } catch {
    return {};
  }
}
