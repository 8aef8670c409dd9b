// The one loop: ask the model, run its tools, ask again. Client, agents and server are views on it.

import { Run } from "../async/run.ts";
import { checkLimit } from "../error/check.ts";
import { PromptCutError } from "../error/prompt-cut-error.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "../model/message.ts";
import type { ModelProvider, ModelRequest, OutputFormat, Usage } from "../model/provider.ts";
import { addUsage, estimateUsage } from "../model/usage.ts";
import { AnswerTrace } from "../trace/answer-trace.ts";
import { checkOnTrace, RunTrace } from "../trace/run-trace.ts";
import {
  type Answer,
  isAnsweredHere,
  newAnswer,
  toEvent,
  toMessage,
  toRawCall,
  withOwnId,
} from "./answer.ts";
import { type CallHere, type CheckedCall, checkCall, type RawCall, rejectCall } from "./check-call.ts";
import type { LoopEvent, RunReason } from "./events.ts";
import { OfferedTools } from "./offered-tools.ts";
import type { LoopOptions } from "./options.ts";
import { PromptView } from "./prompt-view.ts";
import { type PromptCut, PromptWatch } from "./prompt-watch.ts";
import { Repeats } from "./repeats.ts";
import { type CallToAnswer, runCalls } from "./run-calls.ts";
import { isShapedLast, shapedText, shapeInWords } from "./shaped-answer.ts";
import { checkRunState, initialState, type RunState } from "./state.ts";
import { failure, toToolMessage } from "./tool-result.ts";
import { askedOf, checkedOf, finishedOf, isToken } from "./traced.ts";
import { unansweredCalls } from "./unanswered.ts";

const defaultMaxRepeats = 3;

/**
 * Runs the loop from any conversation. If that ends in calls without an answer, they are answered first. With the
 * `state` of an earlier run of the conversation, it continues that run with its limits.
 *
 * Iterate it for the events. Each message that belongs to the conversation comes with an event and through
 * `onMessage`; taken together they keep the conversation valid whatever happens: every call gets its answer. An
 * abort ends the run with `run.finished`; leaving the iteration ends it without; an error of the model or of
 * `decideCall` is thrown.
 */
export function run(messages: readonly Message[], options: LoopOptions): Run<LoopEvent> {
  for (const field of [
    "maxToolIterations",
    "maxToolCalls",
    "maxRepeats",
    "maxResultTokens",
    "maxTools",
  ] as const) {
    const limit = options[field];
    const mayBeZero = field === "maxToolIterations" || field === "maxToolCalls"; // each call is answered
    if (limit !== undefined && limit !== Number.POSITIVE_INFINITY && !(mayBeZero && limit === 0))
      checkLimit(field, limit);
  }
  if (options.state !== undefined) checkRunState(options.state);
  checkOnTrace("onTrace", options.onTrace);
  const tools = new OfferedTools(options.tools ?? [], options.isOffered);
  return new Run((signal) => new Loop(messages, options, tools, signal).events(), {
    signal: options.signal,
    graceMs: options.graceMs,
  });
}

class Loop {
  readonly #messages: Message[];
  readonly #options: LoopOptions;
  readonly #tools: OfferedTools;
  readonly #signal: AbortSignal;
  readonly #repeats: Repeats;
  readonly #promptWatch: PromptWatch;
  readonly #view: PromptView;
  readonly #trace: RunTrace | undefined;
  /** The same, unless another run began it, such as an agent's. */
  readonly #ownTrace: RunTrace | undefined;
  #state: RunState;
  /** Whether the model is asked for an answer without calls. */
  #isFinalAnswer: boolean;
  /** Whether the model is offered its tools, also where it may not call them. */
  #offersTools = true;
  /** Whether it was said that the shape is only asked for in words. */
  #hasWarned = false;
  /** The calls of the last answer that are still without a result. */
  #open: CheckedCall[] = [];

  constructor(messages: readonly Message[], options: LoopOptions, tools: OfferedTools, signal: AbortSignal) {
    this.#messages = [...messages];
    this.#options = options;
    this.#tools = tools;
    this.#signal = signal;
    this.#state = options.state ?? initialState;
    const { onTrace } = options;
    if (onTrace instanceof RunTrace) this.#trace = onTrace;
    else if (onTrace) this.#trace = this.#ownTrace = new RunTrace(onTrace, this.#state.answers);
    this.#isFinalAnswer = this.#state.isFinalAnswer === true;
    this.#repeats = new Repeats(this.#maxRepeats, this.#state.repeats);
    this.#promptWatch = options.promptWatch ?? new PromptWatch();
    this.#view = new PromptView(tools, options, () => this.#messages);
  }

  async *events(): AsyncGenerator<LoopEvent, void, void> {
    const trace = this.#ownTrace;
    trace?.start(this.#options.agent?.name);
    try {
      let reason = yield* this.#begin();
      while (!reason) {
        if (!this.#signal.aborted) yield* this.#ask();
        if (this.#open.length > 0 || this.#signal.aborted) reason = yield* this.#answer();
        else reason = this.#answered();
      }
      const isLimit = reason === "max_turns" || reason === "max_tool_calls";
      if (isLimit && this.#options.asksForFinalAnswer && !this.#state.isFinalAnswer)
        reason = yield* this.#askForFinalAnswer();
      // A model that goes on calling does not see the tools any more, which costs its server the cached prompt.
      if (this.#state.isFinalAnswer === true && this.#onlyCalls() && reason !== "aborted") {
        this.#offersTools = false;
        reason = yield* this.#askForFinalAnswer();
      }
      trace?.finish(reason, this.#state.usage);
      yield { type: "run.finished", reason, usage: this.#state.usage, state: this.#state };
    } catch (error) {
      trace?.fail(error);
      throw error;
    } finally {
      // Left between an answer and its calls: each of them still gets a result, but for those that stay open.
      for (const call of this.#open.filter(isAnsweredHere).map((it) => this.#toAnswer(it)))
        this.#commit(
          toToolMessage(
            call,
            (call.outcome ?? failure(call.name, "cancelled")).result,
            this.#options.describeFailure,
          ),
        );
      trace?.finish("aborted", this.#state.usage); // left
    }
  }

  async *#askForFinalAnswer(): AsyncGenerator<LoopEvent, RunReason, void> {
    this.#isFinalAnswer = true;
    yield* this.#ask();
    yield* this.#answer();
    return this.#signal.aborted ? "aborted" : this.#answered();
  }

  /** Whether the last answer has calls and no text, and may be asked for again without tools. */
  #onlyCalls(): boolean {
    const answer = this.#messages.findLast(({ role }) => role === "assistant");
    return !this.#state.isLastTry && this.#lastCalls().length > 0 && !answer?.content;
  }

  /** Does what an earlier run left: answers its open calls. Gives why the run ends, if it is over already. */
  async *#begin(): AsyncGenerator<LoopEvent, RunReason | undefined, void> {
    const { state } = this.#options;
    const open = new Set(unansweredCalls(this.#messages));
    if (open.size > 0 || state) {
      const calls = this.#lastCalls();
      const repeated = this.#repeats.check(calls.map(toRawCall));
      if (state) this.#noteResults(calls, repeated);
      const problems = repeated.filter((_, index) => open.has(calls[index] as ToolCall));
      this.#open = await this.#check([...open].map(toRawCall), problems, { isOpen: true });
    }
    if (open.size > 0) {
      if (!state) this.#countRound();
      for (const call of this.#open) yield toEvent(call);
      const reason = yield* this.#answer();
      const { prompt } = this.#options;
      if (prompt && reason !== "aborted") {
        this.#commit(prompt);
        return undefined; // whatever the calls led to, the prompt is to be answered
      }
      return state?.isFinalAnswer && reason !== "aborted" ? this.#answered() : reason;
    }
    if (!state) return undefined;
    if (state.isFinalAnswer) return this.#answered();
    if (state.endsRun) return "client_calls";
    if (state.limit) return state.limit;
    if (state.answers > 0 && this.#messages.at(-1)?.role === "assistant") return this.#answered();
    return this.#isStuck ? "max_turns" : undefined;
  }

  /** Why a run ends whose last answer has no calls. */
  #answered(): RunReason {
    return this.#state.finishReason === "length" ? "length" : "completed";
  }

  /** The calls of the last answer, with and without a result. */
  #lastCalls(): readonly ToolCall[] {
    const answer = this.#messages.findLast(({ role }) => role === "assistant");
    return answer?.role === "assistant" ? (answer.tool_calls ?? []) : [];
  }

  /** Notes the results that an earlier run had for calls of the last answer. */
  #noteResults(calls: readonly ToolCall[], repeated: readonly (string | undefined)[]): void {
    // Only those after the answer: models use the ids of calls again.
    const start = this.#messages.findLastIndex(({ role }) => role === "assistant");
    const results = new Map(
      this.#messages
        .slice(start)
        .flatMap((it) => (it.role === "tool" ? [[it.tool_call_id, it.content] as const] : [])),
    );
    for (const [index, { id, function: call }] of calls.entries()) {
      const result = results.get(id);
      if (result !== undefined && repeated[index] === undefined) this.#repeats.note(call, result);
    }
  }

  /** Asks the model for one answer: once, or a second time for its shape. */
  async *#ask(): AsyncGenerator<LoopEvent, void, void> {
    const { model, output } = this.#options;
    const request = this.#request();
    if (!output) {
      yield* this.#askOnce(request);
      return;
    }
    const profile = (await model.learn?.({ signal: this.#signal })) ?? model.profile;
    if (profile.outputMode === "prompt" && !this.#hasWarned) {
      this.#hasWarned = true;
      yield this.#tell({ type: "warning", ...shapeInWords });
    }
    if (!isShapedLast(request, profile)) {
      yield* this.#askOnce(request);
      return;
    }
    const { output: _, ...draft } = request;
    const isAnswered = yield* this.#askOnce(draft, output);
    // The same tools, so that the beginning of the prompt stays the same.
    if (!isAnswered && !this.#signal.aborted)
      yield* this.#askOnce({ ...request, toolChoice: "none" }, undefined, true);
  }

  /**
   * Sends one request. The message is in the conversation when this ends, however it ends. A `draft` is an answer that
   * still has to get its shape: its text is held back, and dropped if it has neither calls nor the shape. Returns
   * whether there is an answer.
   */
  async *#askOnce(
    request: ModelRequest,
    draft?: OutputFormat,
    isContinued = false,
  ): AsyncGenerator<LoopEvent, boolean, void> {
    const answer = newAnswer();
    let isStarted = false;
    let isDropped = false;
    let isComplete = false;
    let message: AssistantMessage | undefined;
    // A model that asks another one, or cuts the conversation to a window, tells.
    let sent = { request, model: this.#options.model };
    const trace = this.#trace && new AnswerTrace(this.#trace);
    trace?.asked(askedOf(sent.request, sent.model));
    const onSent = (
      really: ModelRequest,
      model: ModelProvider,
      failure?: { readonly error: unknown },
    ): void => {
      sent = { request: really, model };
      if (!failure || !trace) return;
      trace.failed(failure.error);
      trace.asked(askedOf(really, model));
    };
    let untold = trace;
    try {
      const asked = { ...request, onSent, ...(trace && { tracer: trace }) };
      for await (const delta of this.#options.model.stream(asked)) {
        // Warnings come before an answer: of tries that failed.
        if (!isStarted && delta.type !== "warning") {
          isStarted = true;
          if (!isContinued) yield { type: "model.started", model: this.#options.model.name };
          const change = this.#promptWatch.send(sent.request);
          if (change) yield this.#tell({ type: "prompt.changed", ...change });
        }
        if (untold && isToken(delta)) {
          untold.started();
          untold = undefined;
        }
        switch (delta.type) {
          case "text.delta":
            answer.text += delta.text;
            if (!draft) yield delta;
            break;
          case "thinking.delta":
            answer.thinking += delta.text;
            yield delta;
            break;
          case "call.ended":
            answer.calls.push(withOwnId(this.#view.unwrap(delta), answer.calls));
            break;
          case "finished":
            answer.finishReason = delta.finishReason;
            answer.usage = delta.usage;
            answer.timings = delta.timings;
            break;
          case "call.started":
          case "call.delta":
            answer.callText += delta.type === "call.delta" ? delta.text : delta.name;
            if (this.#options.tellsCallPieces !== false) yield delta;
            break;
          case "warning":
            yield this.#tell(delta);
            break;
          default:
            yield delta;
        }
      }
      const cut = this.#findCut(answer, sent.model);
      trace?.finished(finishedOf(answer));
      if (cut) yield this.#tell({ type: "prompt.cut", ...cut });
      if (draft && answer.calls.length === 0) {
        const shaped = shapedText(answer.text, draft);
        if (shaped === undefined && answer.finishReason !== "content_filter") {
          isDropped = true;
          return false;
        }
        answer.text = shaped ?? answer.text;
        yield { type: "text.delta", text: answer.text };
      } else if (draft && answer.text !== "") {
        // Beside calls, text is not the answer, which has a shape.
        yield { type: "thinking.delta", text: answer.text };
      }
      this.#countAnswer(answer);
      this.#open = [];
      if (cut && this.#options.onPromptCut === "error")
        throw new PromptCutError(this.#options.model.endpoint, cut);
      if (answer.calls.length > 0) {
        this.#open = await this.#check(answer.calls, this.#repeats.check(answer.calls), {
          answer: trace?.answer,
        });
        this.#countRound();
      }
      isComplete = true;
    } catch (error) {
      trace?.failed(error);
      if (!this.#signal.aborted || error !== this.#signal.reason) throw error;
      if (!isStarted) return true;
      // Interrupted: what was said is kept, and calls that were complete are answered 'cancelled'.
      this.#open = answer.calls.map((raw) => rejectCall(raw, "denied", "cancelled"));
    } finally {
      trace?.failed(this.#signal.reason); // left
      if (isStarted && !isComplete && !isDropped)
        answer.usage ??= estimateUsage(sent.request, answer.text + answer.thinking + answer.callText);
      this.#countUsage(answer);
      // Before anyone hears of the calls, so that their results find them. Where the stream was left or failed,
      // there are no calls, but what was said is kept; a draft was not said.
      if (draft && !isComplete) answer.text = "";
      const hasContent = this.#open.length > 0 || answer.text !== "" || answer.thinking !== "";
      if (isComplete || (isStarted && hasContent && !isDropped)) {
        const left = this.#open.filter((call) => !isAnsweredHere(call)).map(({ raw }) => raw.id);
        message = toMessage(answer, this.#open);
        this.#commit(message, left);
      }
    }
    for (const call of this.#open) yield toEvent(call);
    const { finishReason, usage } = answer;
    if (message) yield { type: "model.finished", message, finishReason, usage, state: this.#state };
    return true;
  }

  /** What the server left out of the prompt. The answer's usage counts it. */
  #findCut(answer: Answer, model: ModelProvider): PromptCut | undefined {
    const { usage } = answer;
    const cut = usage && this.#promptWatch.receive(model, usage);
    if (usage && cut) answer.usage = { ...usage, cutTokens: cut.expectedTokens - cut.reportedTokens };
    return cut;
  }

  /** Checks calls one after the other, so that hooks see them in order. */
  async #check(
    calls: readonly RawCall[],
    repeated: readonly (string | undefined)[],
    { isOpen = false, answer = this.#trace?.answer }: { isOpen?: boolean; answer?: number | undefined } = {},
  ): Promise<CheckedCall[]> {
    const trace = this.#trace;
    const doubts: string[] | undefined = trace && [];
    const options = { ...this.#options, tools: this.#tools, signal: this.#signal, isOpen, doubts };
    const checked: CheckedCall[] = [];
    for (const [index, raw] of calls.entries()) {
      const problem = repeated[index];
      let call: CheckedCall;
      if (this.#isFinalAnswer) call = rejectCall(raw, "not_allowed", "No tool may be used any more.");
      else if (problem !== undefined) call = rejectCall(raw, "repeated", problem);
      else call = await checkCall(raw, options);
      checked.push(call);
      trace?.emit(checkedOf(call, answer ?? 0, doubts?.splice(0)));
    }
    return checked;
  }

  /** An event that a trace has too. */
  #tell(event: Extract<LoopEvent, { readonly message: string }>): LoopEvent {
    this.#trace?.emit(event);
    return event;
  }

  /** Counts the tokens of an answer, once. */
  #countUsage(answer: Answer): void {
    const { usage } = answer;
    if (!usage || answer.isCounted) return;
    answer.isCounted = true;
    this.#state = { ...this.#state, usage: addUsage(this.#state.usage, usage) as Usage };
    this.#options.onUsage?.(usage);
  }

  #countAnswer(answer: Answer): void {
    this.#countUsage(answer);
    const { finishReason } = answer;
    const { limit: _limit, overLimit: _over, endsRun: _ends, repeats: _repeats, ...rest } = this.#state;
    const { retryTool, isRetry: _isRetry, ...state } = rest;
    this.#state = {
      ...state,
      answers: state.answers + 1,
      finishReason,
      ...(this.#isFinalAnswer && { isFinalAnswer: true as const }),
      ...(!this.#offersTools && { isLastTry: true as const }),
      ...(retryTool !== undefined && { isRetry: true as const }),
    };
  }

  /** Counts the round of the open calls before any of them runs: which may run, and which a limit stops. */
  #countRound(): void {
    const { maxToolIterations = Number.POSITIVE_INFINITY, maxToolCalls = Number.POSITIVE_INFINITY } =
      this.#options;
    const state = this.#state;
    const here = this.#open.filter(isAnsweredHere);
    const runnable = here.filter(({ decision }) => decision === "run");
    const rounds = state.rounds + (here.length > 0 ? 1 : 0);
    // The model is not asked again here after calls of the client, so that this is no further round.
    const isLastRound = rounds > maxToolIterations && here.length === this.#open.length;
    const mayRun = isLastRound ? 0 : Math.max(0, maxToolCalls - state.callsRun);
    const overLimit = runnable.slice(mayRun).map(({ raw }) => raw.id);
    const callsRun = runnable.length - overLimit.length;
    const fruitlessAnswers = callsRun === 0 ? state.fruitlessAnswers + 1 : 0;
    const limit = isLastRound ? "max_turns" : overLimit.length > 0 ? "max_tool_calls" : undefined;
    const endsRun = callsRun === 0 && here.some((call) => call.decision === "reject" && call.endsRun);
    const repeats = this.#repeats.toStored();
    const retryTool = this.#toolToRetry();
    this.#state = {
      ...state,
      rounds,
      callsRun: state.callsRun + callsRun,
      fruitlessAnswers,
      ...(limit && { limit }),
      ...(overLimit.length > 0 && { overLimit }),
      ...(endsRun && { endsRun }),
      ...(repeats && { repeats }),
      ...(retryTool !== undefined && { retryTool }),
    };
  }

  /**
   * The tool that the model must call next, held to its schema: where the server can do that, and the answer had no
   * other fault, and no other call, than arguments that do not fit. Only once: then the model is free again.
   */
  #toolToRetry(): string | undefined {
    const [call, other] = this.#open;
    if (!call || other || call.decision !== "reject" || call.reason !== "invalid" || call.endsRun)
      return undefined;
    if (this.#state.isRetry || this.#isFinalAnswer || !this.#options.model.profile.constrainsCalls)
      return undefined;
    const name = this.#tools.find(call.raw.name)?.wireName;
    return this.#view.isShown(name) ? name : undefined;
  }

  /** Answers all calls that are answered here. Gives why the run ends, if it does. */
  async *#answer(): AsyncGenerator<LoopEvent, RunReason | undefined, void> {
    const here = this.#open.filter(isAnsweredHere);
    const isLeft = here.length < this.#open.length;
    const calls = here.map((call) => this.#toAnswer(call));
    this.#open = [];
    let answered = 0;
    const take = ({ message }: { readonly message: ToolMessage }) => {
      const call = here[answered++] as CallHere;
      // The refusal of a repeated call is not a new result of it.
      if (!("reason" in call && call.reason === "repeated")) this.#repeats.note(call.raw, message.content);
      this.#commit(message);
    };
    yield* runCalls(calls, take, this.#options, this.#state, this.#signal, this.#trace);
    if (this.#signal.aborted) return "aborted";
    const { limit, endsRun, fruitlessAnswers } = this.#state;
    if (isLeft || endsRun) return "client_calls";
    if (limit || !this.#isStuck) return limit;
    yield this.#tell({
      type: "warning",
      message: `In ${fruitlessAnswers} answers in a row, no call could be run; the run ends here.`,
    });
    return "max_turns";
  }

  /** A call that runs, or its outcome if it does not. */
  #toAnswer(call: CallHere): CallToAnswer {
    const { id, name } = call.raw;
    const { input } = call;
    if (call.decision === "reject")
      return { id, name, wireName: name, input, outcome: failure(name, call.error) };
    const ready = { id, name: call.tool.name, wireName: call.tool.wireName, input };
    if (!this.#state.overLimit?.includes(id)) return { ...ready, tool: call.tool };
    const then = this.#options.asksForFinalAnswer ? ". Answer now, without another call." : "";
    return { ...ready, outcome: failure(ready.name, `limit reached: this call was not run${then}`) };
  }

  /** A model that only makes mistakes is not asked forever. */
  get #isStuck(): boolean {
    return this.#state.fruitlessAnswers > this.#maxRepeats;
  }

  get #maxRepeats(): number {
    return this.#options.maxRepeats ?? defaultMaxRepeats;
  }

  #request(): ModelRequest {
    const { settings, toolChoice, output, asksForWholeAnswers } = this.#options;
    const request: ModelRequest = { messages: this.#view.messages(this.#messages), signal: this.#signal };
    const tools = this.#offersTools ? this.#view.definitions : [];
    if (tools.length > 0) request.tools = tools;
    // Without its tools, the prompt would have another beginning, and no cache.
    const { retryTool } = this.#state;
    if (this.#isFinalAnswer && tools.length > 0) request.toolChoice = "none";
    else if (retryTool !== undefined && this.#view.isShown(retryTool))
      request.toolChoice = { name: retryTool };
    else if (toolChoice !== undefined && !this.#isFinalAnswer)
      request.toolChoice = this.#state.answers > 0 && toolChoice !== "none" ? "auto" : toolChoice;
    if (output) request.output = output;
    if (settings) request.settings = settings;
    if (asksForWholeAnswers) request.wholeAnswer = true;
    return request;
  }

  #commit(message: Message, leftCalls: readonly string[] = []): void {
    this.#messages.push(message);
    this.#options.onMessage?.(message, leftCalls);
  }
}
