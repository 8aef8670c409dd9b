// Turns what happens in the loop into items of the output and steps of the run.

import type { FinishReason, LoopEvent, Message, RunReason } from "rondo";
import { localLabel, type Offer, type Offered } from "../executor/offer.ts";
import { type ClientTool, clientTool } from "../protocol/client-tools.ts";
import { newId } from "../protocol/ids.ts";
import type { IncompleteReason, ResponseUsage } from "../protocol/response.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import type { ToolDefinition } from "../protocol/tools.ts";
import type { ApprovalRequest } from "./approval-id.ts";
import type { Journal } from "./journal.ts";
import type { Output } from "./output.ts";
import type { Plan } from "./plan.ts";
import { type RunStep, type TurnCall, toStep } from "./steps.ts";
import { addUsage, estimateUsage, toUsage } from "./usage.ts";

export interface RecorderOptions {
  readonly journal: Journal;
  readonly output: Output;
  readonly offer: Offer;
  /** The tools of the request. */
  readonly tools: readonly ToolDefinition[];
  /** The conversation as the model was given it; grows with the run. */
  readonly messages: Message[];
  /** Whether calls come back as they are, and nothing runs. */
  readonly runsNothing: boolean;
  /** The id by which a person is asked to allow a call. Default: nobody is asked. */
  readonly approvalIdFor?: Plan["approvalIdFor"];
  readonly signal: AbortSignal;
  /** What an earlier start of the run has left: calls without an answer, and tokens. */
  readonly openCalls?: readonly TurnCall[] | undefined;
  readonly usage?: ResponseUsage | undefined;
  /** How the last answer of an earlier start has ended. */
  readonly finishReason?: FinishReason | undefined;
}

/** How a run has ended. */
export interface Outcome {
  readonly status: ResponseStatus;
  readonly incompleteReason: IncompleteReason | null;
}

type Call = Omit<TurnCall, "shown"> & { readonly found: Offered | undefined };

export class Recorder {
  readonly #options: RecorderOptions;
  /** The calls of the answer that is being read. */
  #calls: Call[] = [];
  /** The calls of the last answer that are still without a result. */
  #open: Map<string, TurnCall>;
  /** Calls of an earlier start of the run that cannot be run any more. */
  readonly #refused = new Set<string>();
  #usage: ResponseUsage | undefined;
  #finishReason: FinishReason;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#open = new Map(options.openCalls?.map((call) => [call.callId, call]));
    this.#usage = options.usage;
    this.#finishReason = options.finishReason ?? "unknown";
  }

  /** How the last answer of the model has ended. */
  get finishReason(): FinishReason {
    return this.#finishReason;
  }

  get usage(): ResponseUsage | undefined {
    return this.#usage;
  }

  accept(event: LoopEvent): void {
    const { output } = this.#options;
    switch (event.type) {
      case "model.started":
        output.turn += 1;
        return;
      case "text.delta":
        output.addText("message", event.text);
        return;
      case "thinking.delta":
        output.addText("reasoning", event.text);
        return;
      case "call.ready":
        this.#noteCall(event.id, event.name, JSON.stringify(event.input));
        return;
      case "call.rejected":
        this.#noteCall(event.id, event.name, event.raw, event.error);
        return;
      case "model.finished":
        this.#endAnswer(event);
        return;
      case "tool.started":
        this.#step({ type: "call.started", callId: event.id });
        return;
      case "tool.finished": {
        const { id, message, isError } = event;
        this.#answer(id, message, isError ? errorOf(event.result) : undefined);
        return;
      }
      default:
      // Pieces of a call are shown when the whole is known to be right; a tool's progress is not shown.
    }
  }

  /** Shows calls of an earlier answer that are about to run, because a person has allowed them. */
  begin(approved: readonly ApprovalRequest[]): void {
    if (approved.length === 0) return;
    const calls = approved.map(({ id, identity, arguments: text }): TurnCall => {
      const { label, name } = identity;
      const item = this.#options.output.beginCall({ label, name, arguments: text, approvalId: id });
      return { callId: id, name, arguments: text, identity, isRejected: false, shown: { item } };
    });
    this.#open = new Map(calls.map((call) => [call.callId, call]));
    this.#step({ type: "approved", calls });
  }

  /** Answers a call of the server: `error` if it has failed. */
  #answer(callId: string, message: Extract<Message, { role: "tool" }>, error: string | undefined): void {
    const call = this.#open.get(callId);
    this.#options.messages.push(message);
    const isRefused = this.#refused.delete(callId);
    this.#step({ type: "call.finished", callId, message, ...(isRefused && { isRefused }) });
    this.#open.delete(callId);
    if (!call || !("item" in call.shown)) return;
    this.#options.output.finishCall(
      call.shown.item,
      error === undefined ? { output: message.content } : { error },
    );
  }

  /** Shows the calls that wait for the client, and says how the run has ended. */
  finish(reason: RunReason): Outcome {
    const { output, runsNothing } = this.#options;
    const ended = (status: ResponseStatus, incompleteReason: IncompleteReason | null = null) => ({
      status,
      incompleteReason,
    });
    switch (reason) {
      case "client_calls":
        for (const { name, arguments: text, shown } of this.#open.values())
          if ("clientCallId" in shown)
            output.addClientCall({
              callId: shown.clientCallId,
              arguments: text,
              tool: this.#clientTool(name),
            });
        for (const { identity, arguments: text, shown } of this.#open.values())
          if ("approvalId" in shown && identity)
            output.addApprovalRequest({
              id: shown.approvalId,
              server_label: identity.label,
              name: identity.name,
              arguments: text,
            });
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
        if (this.#finishReason === "content_filter") return ended("incomplete", "content_filter");
        return ended("completed");
    }
  }

  /** Ends what is still open at the end: text that was cut off, and calls that will get no answer. */
  abandon(why: string): void {
    this.#options.output.closeText("incomplete");
    for (const { shown } of this.#open.values())
      if ("item" in shown) this.#options.output.finishCall(shown.item, { error: why });
    this.#open.clear();
  }

  #waitsForClient(): boolean {
    return [...this.#open.values()].some(({ shown }) => "clientCallId" in shown);
  }

  /** A tool as the client knows it, by the name that models see. */
  #clientTool(wireName: string): ClientTool {
    const { tools, offer } = this.#options;
    const name = offer.find(wireName)?.tool.name ?? wireName;
    const definition = tools.find((it) => it.name === name);
    return (definition && clientTool(definition)) ?? { type: "function", name: wireName };
  }

  #noteCall(callId: string, name: string, text: string, error?: string): void {
    if (this.#open.has(callId)) {
      // Of an earlier start of the run, and shown already.
      if (error !== undefined) this.#refused.add(callId);
      return;
    }
    const found = this.#options.offer.find(name);
    this.#calls.push({
      callId,
      name: found?.tool.wireName ?? name,
      arguments: text,
      ...(found && { identity: found.identity }),
      isRejected: error !== undefined,
      ...(error !== undefined && { error }),
      found,
    });
  }

  #endAnswer({ message, finishReason, usage }: Extract<LoopEvent, { type: "model.finished" }>): void {
    const { output, messages, signal } = this.#options;
    const calls = this.#calls;
    this.#calls = [];
    const isCut = signal.aborted || (finishReason === "length" && calls.length === 0);
    output.closeText(isCut ? "incomplete" : "completed");
    const cost = usage ? toUsage(usage) : estimateUsage(messages, message);
    this.#usage = addUsage(this.#usage, cost);
    this.#finishReason = finishReason;
    messages.push(message);
    const shown = calls.map((call) => this.#show(call));
    this.#open = new Map(shown.map((call) => [call.callId, call]));
    this.#step({ type: "turn", turn: output.turn, message, finishReason, usage: cost, calls: shown });
  }

  #show({ found, ...call }: Call): TurnCall {
    const { output, runsNothing, approvalIdFor } = this.#options;
    const isForClient = !call.isRejected && found !== undefined && (runsNothing || !found.runsHere);
    if (isForClient) return { ...call, shown: { clientCallId: newId("call") } };
    if (found?.needsApproval && !call.isRejected && approvalIdFor)
      return {
        ...call,
        shown: { approvalId: approvalIdFor({ identity: found.identity, arguments: call.arguments }) },
      };
    const { label, name } = found?.runsHere ? found.identity : { label: localLabel, name: call.name };
    return { ...call, shown: { item: output.beginCall({ label, name, arguments: call.arguments }) } };
  }

  #step(step: RunStep): void {
    this.#options.journal.step(toStep(step));
  }
}

/** What is told of a failed call. */
function errorOf(result: unknown): string {
  const { error, content } = Object(result) as { error?: unknown; content?: unknown };
  if (typeof error === "string") return error;
  const texts = Array.isArray(content) ? content.map((part) => (part as { text?: unknown }).text) : [];
  return texts.every((text) => typeof text === "string") && texts.length > 0
    ? texts.join("\n")
    : JSON.stringify(result);
}
