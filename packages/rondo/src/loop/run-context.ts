// What the parts of a run share: its conversation, its tools, what it counts, and whom it tells.

import type { Tell } from "../async/telling.ts";
import type { Message, ToolCall } from "../model/message.ts";
import type { ModelRequest } from "../model/provider.ts";
import { RunTrace } from "../trace/run-trace.ts";
import { type CheckedCall, checkCall, type RawCall, rejectCall } from "./check-call.ts";
import type { LoopEvent } from "./events.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { LoopOptions } from "./options.ts";
import { PromptView } from "./prompt-view.ts";
import { PromptWatch } from "./prompt-watch.ts";
import { RunProgress } from "./run-progress.ts";
import { checkedOf } from "./traced.ts";

/** What a run is made from. */
export interface LoopSetup {
  readonly messages: readonly Message[];
  readonly options: LoopOptions;
  readonly tools: OfferedTools;
}

export class RunContext {
  readonly options: LoopOptions;
  readonly tools: OfferedTools;
  readonly signal: AbortSignal;
  readonly messages: Message[];
  readonly view: PromptView;
  readonly promptWatch: PromptWatch;
  readonly progress: RunProgress;
  readonly trace: RunTrace | undefined;
  /** The same, unless another run began it, such as an agent's. */
  readonly ownTrace: RunTrace | undefined;
  /** The calls of the last answer that are still without a result. */
  open: CheckedCall[] = [];
  /** Tells an event. A promise where the run has to wait until it was taken. */
  readonly tell: Tell<LoopEvent>;
  /** Whether it was said that the shape is only asked for in words. */
  hasWarned = false;

  constructor({ messages, options, tools }: LoopSetup, tell: Tell<LoopEvent>, signal: AbortSignal) {
    this.tell = tell;
    this.messages = [...messages];
    this.options = options;
    this.tools = tools;
    this.signal = signal;
    this.progress = new RunProgress(options);
    const { onTrace } = options;
    if (onTrace instanceof RunTrace) this.trace = onTrace;
    else if (onTrace) this.trace = this.ownTrace = new RunTrace(onTrace, this.progress.state.answers);
    this.promptWatch = options.promptWatch ?? new PromptWatch();
    this.view = new PromptView(tools, options, () => this.messages);
  }

  /** The calls of the last answer, with and without a result. */
  lastCalls(): readonly ToolCall[] {
    const answer = this.messages.findLast(({ role }) => role === "assistant");
    return answer?.role === "assistant" ? (answer.tool_calls ?? []) : [];
  }

  /** The next request. */
  request(): ModelRequest {
    const { settings, toolChoice, output, asksForWholeAnswers } = this.options;
    const { state, isFinalAnswer, offersTools } = this.progress;
    const request: ModelRequest = { messages: this.view.messages(this.messages), signal: this.signal };
    const tools = offersTools ? this.view.definitions : [];
    if (tools.length > 0) request.tools = tools;
    // Without its tools, the prompt would have another beginning, and no cache.
    const { retryTool } = state;
    if (isFinalAnswer && tools.length > 0) request.toolChoice = "none";
    else if (retryTool !== undefined && this.view.isShown(retryTool))
      request.toolChoice = { name: retryTool };
    else if (toolChoice !== undefined && !isFinalAnswer)
      request.toolChoice = state.answers > 0 && toolChoice !== "none" ? "auto" : toolChoice;
    if (output) request.output = output;
    if (settings) request.settings = settings;
    if (asksForWholeAnswers) request.wholeAnswer = true;
    return request;
  }

  /** Tells events one after the other. */
  tellAll(events: readonly LoopEvent[], from = 0): Promise<void> | undefined {
    for (let index = from; index < events.length; index += 1) {
      const taken = this.tell(events[index] as LoopEvent);
      if (taken) return index + 1 < events.length ? taken.then(() => this.tellAll(events, index + 1)) : taken;
    }
    return undefined;
  }

  /** Checks calls one after the other, so that hooks see them in order. */
  async check(
    calls: readonly RawCall[],
    repeated: readonly (string | undefined)[],
    { isOpen = false, answer = this.trace?.answer }: { isOpen?: boolean; answer?: number | undefined } = {},
  ): Promise<CheckedCall[]> {
    const { trace } = this;
    const doubts: string[] | undefined = trace && [];
    const options = { ...this.options, tools: this.tools, signal: this.signal, isOpen, doubts };
    const checked: CheckedCall[] = [];
    for (const [index, raw] of calls.entries()) {
      const problem = repeated[index];
      let call: CheckedCall;
      if (this.progress.isFinalAnswer) call = rejectCall(raw, "not_allowed", "No tool may be used any more.");
      else if (problem !== undefined) call = rejectCall(raw, "repeated", problem);
      else {
        const checking = checkCall(raw, options);
        call = checking instanceof Promise ? await checking : checking;
      }
      checked.push(call);
      trace?.emit(checkedOf(call, answer ?? 0, doubts?.splice(0)));
    }
    return checked;
  }

  /** Counts the round of the open calls. */
  countRound(): void {
    this.progress.countRound(this.open, this.#toolToRetry());
  }

  /**
   * The tool that the model must call next, held to its schema: where the server can do that, and the answer had no
   * other fault, and no other call, than arguments that do not fit. Only once: then the model is free again.
   */
  #toolToRetry(): string | undefined {
    const [call, other] = this.open;
    if (!call || other || call.decision !== "reject" || call.reason !== "invalid" || call.endsRun)
      return undefined;
    const { state, isFinalAnswer } = this.progress;
    if (state.isRetry || isFinalAnswer || !this.options.model.profile.constrainsCalls) return undefined;
    const name = this.tools.find(call.raw.name)?.wireName;
    return this.view.isShown(name) ? name : undefined;
  }

  /** An event that a trace has too. */
  traced(event: Extract<LoopEvent, { readonly message: string }>): LoopEvent {
    this.trace?.emit({ ...event });
    return event;
  }

  /** Adds a message to the conversation. `leftCalls` are its calls that are left to the client. */
  commit(message: Message, leftCalls: readonly string[] = []): void {
    this.messages.push(message);
    this.options.onMessage?.(message, leftCalls);
  }
}
