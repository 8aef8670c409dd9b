// The one loop: ask the model, run its tools, ask again. Client, agents and server are views on it.

import { Run } from "../async/run.ts";
import { checkLimit } from "../error/check.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "../model/message.ts";
import type { FinishReason, ModelRequest, Usage } from "../model/provider.ts";
import { type CheckedCall, checkCall, checkOpenCall, type RawCall, rejectCall } from "./check-call.ts";
import type { LoopEvent, RunReason } from "./events.ts";
import { OfferedTools } from "./offered-tools.ts";
import type { LoopOptions } from "./options.ts";
import { Repeats } from "./repeats.ts";
import { type CallToAnswer, runCalls } from "./run-calls.ts";
import { failure, toToolMessage } from "./tool-result.ts";
import { unansweredCalls } from "./unanswered.ts";
import { addUsage } from "./usage.ts";

const defaultMaxRepeats = 3;

/**
 * Runs the loop from any conversation. If that ends in calls without an answer, they are answered first.
 *
 * Iterate what it gives for the events. Each message that belongs to the conversation comes with an event and
 * through `onMessage`; taken together they keep the conversation valid whatever happens: every call gets its
 * answer. An abort ends the run with `run.finished`; leaving the iteration ends it without; an error of the model
 * or of a check is thrown.
 */
export function run(messages: readonly Message[], options: LoopOptions): Run<LoopEvent> {
  for (const field of ["maxToolIterations", "maxToolCalls", "maxRepeats"] as const) {
    const limit = options[field];
    const mayBeZero = field !== "maxRepeats"; // no call is run, each is answered
    if (limit !== undefined && limit !== Number.POSITIVE_INFINITY && !(mayBeZero && limit === 0))
      checkLimit(field, limit);
  }
  const tools = new OfferedTools(options.tools ?? [], options);
  return new Run((signal) => new Loop(messages, options, tools, signal).events(), {
    signal: options.signal,
    graceMs: options.graceMs,
  });
}

/** What is gathered of one answer of the model. */
interface Answer {
  text: string;
  thinking: string;
  readonly calls: RawCall[];
  finishReason: FinishReason;
  usage: Usage | undefined;
}

/** A call that is answered here. */
type CallHere = Exclude<CheckedCall, { readonly isForClient: true }>;

class Loop {
  readonly #messages: Message[];
  readonly #options: LoopOptions;
  readonly #tools: OfferedTools;
  readonly #signal: AbortSignal;
  readonly #repeats: Repeats;
  #iterations = 0;
  #callsRun = 0;
  /** Answers in a row of which no call could be run. A model that only makes mistakes is not asked forever. */
  #fruitless = 0;
  /** Whether the model has answered once: what was forced on it is then done. */
  #hasAnswered = false;
  /** Whether the model is asked for the last time, and without tools. */
  #isFinalAnswer = false;
  #usage: Usage | undefined;
  /** The calls of the last answer that are still without a result. */
  #open: CheckedCall[] = [];

  constructor(messages: readonly Message[], options: LoopOptions, tools: OfferedTools, signal: AbortSignal) {
    this.#messages = [...messages];
    this.#options = options;
    this.#tools = tools;
    this.#signal = signal;
    this.#repeats = new Repeats(this.#maxRepeats);
  }

  async *events(): AsyncGenerator<LoopEvent, void, void> {
    try {
      let reason: RunReason | undefined;
      const open = unansweredCalls(this.#messages).map(toRawCall);
      if (open.length > 0) {
        this.#open = await this.#check(open, checkOpenCall);
        for (const call of this.#open) yield toEvent(call);
        reason = yield* this.#answer();
      }
      while (!reason) {
        const finishReason = this.#signal.aborted ? "unknown" : yield* this.#ask();
        if (this.#open.length > 0 || this.#signal.aborted) reason = yield* this.#answer();
        else reason = finishReason === "length" ? "length" : "completed";
      }
      if (this.#options.asksForFinalAnswer && (reason === "max_turns" || reason === "max_tool_calls")) {
        this.#isFinalAnswer = true;
        const finishReason = yield* this.#ask();
        yield* this.#answer();
        reason = this.#signal.aborted ? "aborted" : finishReason === "length" ? "length" : "completed";
      }
      yield { type: "run.finished", reason, usage: this.#usage };
    } finally {
      // Left between an answer and its calls: each of them still gets a result, but for those of the client.
      for (const call of this.#toAnswer(this.#openHere(), Number.POSITIVE_INFINITY))
        this.#commit(toToolMessage(call, (call.outcome ?? failure(call.name, "cancelled")).result));
    }
  }

  /** Asks the model once. The message is in the conversation when this ends, however it ends. */
  async *#ask(): AsyncGenerator<LoopEvent, FinishReason, void> {
    const answer: Answer = { text: "", thinking: "", calls: [], finishReason: "unknown", usage: undefined };
    let isStarted = false;
    let isComplete = false;
    let message: AssistantMessage | undefined;
    try {
      for await (const delta of this.#options.model.stream(this.#request())) {
        if (!isStarted) {
          isStarted = true;
          yield { type: "model.started", model: this.#options.model.name };
        }
        switch (delta.type) {
          case "text.delta":
            answer.text += delta.text;
            yield delta;
            break;
          case "thinking.delta":
            answer.thinking += delta.text;
            yield delta;
            break;
          case "call.ended":
            answer.calls.push(delta);
            break;
          case "finished":
            answer.finishReason = delta.finishReason;
            answer.usage = delta.usage;
            break;
          case "call.started":
          case "call.delta":
            if (this.#options.tellsCallPieces !== false) yield delta;
            break;
          default:
            yield delta;
        }
      }
      this.#hasAnswered = true;
      this.#usage = addUsage(this.#usage, answer.usage);
      this.#open = answer.calls.length > 0 ? await this.#check(answer.calls) : [];
      isComplete = true;
    } catch (error) {
      if (!this.#signal.aborted || error !== this.#signal.reason) throw error;
      if (!isStarted) return "unknown";
      // Interrupted: what was said is kept, and calls that were complete are answered 'cancelled'.
      this.#open = answer.calls.map((raw) => rejectCall(raw, "denied", "cancelled"));
    } finally {
      // Before anyone hears of the calls, so that their results find them. Where the stream was left or has
      // failed, there are no calls, but what was said is kept.
      const hasContent = this.#open.length > 0 || answer.text !== "" || answer.thinking !== "";
      if (isComplete || (isStarted && hasContent)) {
        const forClient = this.#open.filter((call) => this.#isForClient(call)).map(({ raw }) => raw.id);
        message = toMessage(answer, this.#open);
        this.#commit(message, forClient);
      }
    }
    for (const call of this.#open) yield toEvent(call);
    const { finishReason, usage } = answer;
    if (message) yield { type: "model.finished", message, finishReason, usage };
    return finishReason;
  }

  /** Checks calls one after the other, so that hooks see them in order. */
  async #check(calls: readonly RawCall[], check = checkCall): Promise<CheckedCall[]> {
    const checked: CheckedCall[] = [];
    const repeated = this.#repeats.check(calls);
    for (const [index, raw] of calls.entries()) {
      const problem = repeated[index];
      if (this.#isFinalAnswer) checked.push(rejectCall(raw, "not_allowed", "No tool may be used any more."));
      else if (problem !== undefined) checked.push(rejectCall(raw, "repeated", problem));
      else checked.push(await check(raw, this.#tools, this.#options, this.#signal));
    }
    return checked;
  }

  /** Answers all calls that are answered here. Gives why the run ends, if it does. */
  async *#answer(): AsyncGenerator<LoopEvent, RunReason | undefined, void> {
    const here = this.#openHere();
    const isForClient = here.length < this.#open.length;
    const wanted = here.filter((call) => "tool" in call).length;
    const { mayRun, limit } = this.#limit(wanted, isForClient);
    const calls = this.#toAnswer(here, mayRun);
    const isDecided = this.#open.some((call) => "isDecided" in call && call.isDecided);
    this.#open = [];
    const toRun = Math.min(wanted, mayRun);
    this.#callsRun += toRun;
    if (calls.length > 0) this.#iterations += 1;
    this.#fruitless = toRun === 0 ? this.#fruitless + 1 : 0;
    let answered = 0;
    const take = ({ message }: { readonly message: ToolMessage }) => {
      const call = here[answered++] as CallHere;
      // That a call is refused as repeated is not a new result of it.
      if (!("reason" in call && call.reason === "repeated")) this.#repeats.note(call.raw, message.content);
      this.#commit(message);
    };
    yield* runCalls(calls, take, this.#options, this.#signal);
    if (this.#signal.aborted) return "aborted";
    if (isForClient || !(isDecided || this.#options.correctsCalls || this.#runsAnythingHere()))
      return "client_calls";
    if (limit || this.#fruitless <= this.#maxRepeats) return limit;
    yield {
      type: "warning",
      message: `In ${this.#fruitless} answers in a row, no call could be run; the run ends here.`,
    };
    return "max_turns";
  }

  /**
   * How many of the calls that could run may run, the first ones, and which limit keeps the others from it.
   * `maxToolIterations` limits how often the model is asked again, which it is not after calls of the client.
   */
  #limit(wanted: number, isForClient: boolean): { mayRun: number; limit: RunReason | undefined } {
    const { maxToolIterations = Number.POSITIVE_INFINITY, maxToolCalls = Number.POSITIVE_INFINITY } =
      this.#options;
    if (this.#iterations >= maxToolIterations && !isForClient) return { mayRun: 0, limit: "max_turns" };
    const mayRun = Math.max(0, maxToolCalls - this.#callsRun);
    return { mayRun, limit: wanted > mayRun ? "max_tool_calls" : undefined };
  }

  /** The open calls that are not the client's. */
  #openHere(): CallHere[] {
    return this.#open.filter((call): call is CallHere => !this.#isForClient(call));
  }

  /** The first `mayRun` calls that can run do. The others have their outcome already. */
  #toAnswer(checked: readonly CallHere[], mayRun: number): CallToAnswer[] {
    let running = 0;
    return checked.map((call) => {
      const { id, name } = call.raw;
      const { input } = call;
      if (!("tool" in call)) return { id, name, wireName: name, input, outcome: failure(name, call.error) };
      const ready = { id, name: call.tool.name, wireName: call.tool.wireName, input };
      if (running++ < mayRun) return { ...ready, tool: call.tool };
      return { ...ready, outcome: failure(ready.name, "limit reached: this call was not run") };
    });
  }

  #isForClient(call: CheckedCall): boolean {
    const { runsHere } = this.#options;
    if ("isForClient" in call) return true;
    return "tool" in call && !call.isDecided && runsHere !== undefined && !runsHere(call.tool);
  }

  get #maxRepeats(): number {
    return this.#options.maxRepeats ?? defaultMaxRepeats;
  }

  /** Where every tool is the client's, it decides itself when to ask again. */
  #runsAnythingHere(): boolean {
    const { runsHere, tools = [] } = this.#options;
    return !runsHere || [...tools].some(runsHere);
  }

  #request(): ModelRequest {
    const { settings, toolChoice, output, asksForWholeAnswers } = this.#options;
    const request: ModelRequest = { messages: this.#messages, signal: this.#signal };
    const tools = this.#isFinalAnswer ? [] : this.#tools.definitions;
    if (tools.length > 0) request.tools = tools;
    if (toolChoice !== undefined && !this.#isFinalAnswer)
      request.toolChoice = this.#hasAnswered && toolChoice !== "none" ? "auto" : toolChoice;
    if (output) request.output = output;
    if (settings) request.settings = settings;
    if (asksForWholeAnswers) request.wholeAnswer = true;
    return request;
  }

  #commit(message: Message, clientCalls: readonly string[] = []): void {
    this.#messages.push(message);
    this.#options.onMessage?.(message, clientCalls);
  }
}

function toRawCall({ id, function: { name, arguments: text } }: ToolCall): RawCall {
  return { id, name, arguments: text, isTruncated: false };
}

function toEvent(call: CheckedCall): LoopEvent {
  const { id, name, arguments: raw } = call.raw;
  if (!("error" in call))
    return { type: "call.ready", id, name: "tool" in call ? call.tool.name : name, input: call.input };
  return { type: "call.rejected", id, name, raw, reason: call.reason, error: call.error };
}

function toToolCall(call: CheckedCall): ToolCall {
  const name = "tool" in call ? call.tool.wireName : call.raw.name;
  return { id: call.raw.id, type: "function", function: { name, arguments: JSON.stringify(call.input) } };
}

/** The message as it enters the conversation. A call that cannot run keeps its place, too. */
function toMessage({ text, thinking }: Answer, checked: readonly CheckedCall[]): AssistantMessage {
  const message: AssistantMessage = { role: "assistant", content: text };
  if (checked.length > 0) message.tool_calls = checked.map(toToolCall);
  if (thinking !== "") message.reasoning = thinking;
  return message;
}
