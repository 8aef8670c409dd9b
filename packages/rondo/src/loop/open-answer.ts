// The answer to one request while it comes: what was said so far, and what becomes of it, however it ends.

import { PromptCutError } from "../error/prompt-cut-error.ts";
import type { ModelDelta, ModelProvider, ModelRequest, OutputFormat } from "../model/provider.ts";
import { estimateUsage } from "../model/usage.ts";
import { AnswerTrace } from "../trace/answer-trace.ts";
import { addCall, isAnsweredHere, newAnswer, toEvent, toMessage } from "./answer.ts";
import { rejectCall } from "./check-call.ts";
import type { LoopEvent } from "./events.ts";
import type { PromptCut } from "./prompt-watch.ts";
import type { RunContext } from "./run-context.ts";
import { shapedText } from "./shaped-answer.ts";
import { askedOf, finishedOf, isToken } from "./traced.ts";

export interface OpenAnswerOptions {
  /** An answer that still has to get this shape: its text is held back. Default: it is told as it comes. */
  readonly draft?: OutputFormat | undefined;
  /** Whether it goes on with an answer that has started. Default: false. */
  readonly isContinued?: boolean;
}

export class OpenAnswer {
  readonly request: ModelRequest;
  readonly #run: RunContext;
  readonly #draft: OutputFormat | undefined;
  readonly #isContinued: boolean;
  readonly #answer = newAnswer();
  readonly #trace: AnswerTrace | undefined;
  /** A model that asks another one, or cuts the conversation to a window, tells. */
  #sent: { readonly request: ModelRequest; readonly model: ModelProvider };
  #cut: PromptCut | undefined;
  /** Whether the trace knows of the first token. */
  #isTold: boolean;
  #isStarted = false;
  #isDropped = false;
  #isComplete = false;

  constructor(
    run: RunContext,
    request: ModelRequest,
    { draft, isContinued = false }: OpenAnswerOptions = {},
  ) {
    this.#run = run;
    this.#draft = draft;
    this.#isContinued = isContinued;
    this.#sent = { request, model: run.options.model };
    this.#trace = run.trace && new AnswerTrace(run.trace);
    this.#isTold = this.#trace === undefined;
    this.#trace?.asked(askedOf(request, run.options.model));
    const onSent: ModelRequest["onSent"] = (really, model, failure) => this.#noteSent(really, model, failure);
    this.request = { ...request, onSent, ...(this.#trace && { tracer: this.#trace }) };
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Whether it is a draft that has neither calls nor its shape. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  #noteSent(request: ModelRequest, model: ModelProvider, failure?: { readonly error: unknown }): void {
    this.#sent = { request, model };
    if (!failure || !this.#trace) return;
    this.#trace.failed(failure.error);
    this.#trace.asked(askedOf(request, model));
  }

  /** The events before the first delta that is not a warning: those come before an answer, of tries that failed. */
  start(): LoopEvent[] {
    this.#isStarted = true;
    const { options, promptWatch } = this.#run;
    const events: LoopEvent[] = this.#isContinued
      ? []
      : [{ type: "model.started", model: options.model.name }];
    const change = promptWatch.send(this.#sent.request);
    if (change) events.push(this.#run.traced({ type: "prompt.changed", ...change }));
    return events;
  }

  /** Takes a delta. Gives the event that it is. */
  take(delta: ModelDelta): LoopEvent | undefined {
    if (!this.#isTold && isToken(delta)) {
      this.#trace?.started();
      this.#isTold = true;
    }
    const answer = this.#answer;
    switch (delta.type) {
      case "text.delta":
        answer.text += delta.text;
        return this.#draft ? undefined : delta;
      case "thinking.delta":
        answer.thinking += delta.text;
        return delta;
      case "call.ended":
        addCall(answer, this.#run.view.unwrap(delta));
        return undefined;
      case "finished":
        answer.finishReason = delta.finishReason;
        answer.usage = delta.usage;
        answer.timings = delta.timings;
        return undefined;
      case "call.started":
      case "call.delta":
        answer.callText += delta.type === "call.delta" ? delta.text : delta.name;
        return this.#run.options.tellsCallPieces === false ? undefined : delta;
      case "warning":
        return this.#run.traced(delta);
      default:
        return delta;
    }
  }

  /** The events after the last delta. */
  end(): LoopEvent[] {
    const answer = this.#answer;
    const draft = this.#draft;
    const events: LoopEvent[] = [];
    this.#cut = this.#findCut();
    this.#trace?.finished(finishedOf(answer));
    if (this.#cut) events.push(this.#run.traced({ type: "prompt.cut", ...this.#cut }));
    if (draft && answer.calls.length === 0) {
      const shaped = shapedText(answer.text, draft);
      if (shaped === undefined && answer.finishReason !== "content_filter") this.#isDropped = true;
      else {
        answer.text = shaped ?? answer.text;
        events.push({ type: "text.delta", text: answer.text });
      }
    } else if (draft && answer.text !== "") {
      // Beside calls, text is not the answer, which has a shape.
      events.push({ type: "thinking.delta", text: answer.text });
    }
    return events;
  }

  /** Counts it, and checks its calls. */
  async complete(): Promise<void> {
    const run = this.#run;
    const { options, progress } = run;
    const { calls } = this.#answer;
    progress.countAnswer(this.#answer);
    run.open = [];
    if (this.#cut && options.onPromptCut === "error")
      throw new PromptCutError(options.model.endpoint, this.#cut);
    if (calls.length > 0) {
      run.open = await run.check(calls, progress.repeats.check(calls), { answer: this.#trace?.answer });
      run.countRound();
    }
    this.#isComplete = true;
  }

  /** Notes an error. Throws it again, unless it is the abort of the run. */
  fail(error: unknown): void {
    const { signal } = this.#run;
    this.#trace?.failed(error);
    if (!signal.aborted || error !== signal.reason) throw error;
    // Interrupted: what was said is kept, and calls that were complete are answered 'cancelled'.
    if (this.#isStarted)
      this.#run.open = this.#answer.calls.map((raw) => rejectCall(raw, "denied", "cancelled"));
  }

  /**
   * Adds the message to the conversation, however the answer ended, before anyone hears of the calls, so that their
   * results find them. Where the stream was left or failed, there are no calls, but what was said is kept; a draft was
   * not said. Gives the events that are left to tell.
   */
  commit(): LoopEvent[] {
    const run = this.#run;
    const answer = this.#answer;
    this.#trace?.failed(run.signal.reason); // left
    if (this.#isStarted && !this.#isComplete && !this.#isDropped)
      answer.usage ??= estimateUsage(this.#sent.request, answer.text + answer.thinking + answer.callText);
    run.progress.countUsage(answer);
    if (this.#draft && !this.#isComplete) answer.text = "";
    const events = run.open.map(toEvent);
    const hasContent = run.open.length > 0 || answer.text !== "" || answer.thinking !== "";
    if (this.#isComplete || (this.#isStarted && hasContent && !this.#isDropped)) {
      const left = run.open.filter((call) => !isAnsweredHere(call)).map(({ raw }) => raw.id);
      const message = toMessage(answer, run.open);
      run.commit(message, left);
      const { finishReason, usage } = answer;
      events.push({ type: "model.finished", message, finishReason, usage, state: run.progress.state });
    }
    return events;
  }

  /** What the server left out of the prompt. The answer's usage counts it. */
  #findCut(): PromptCut | undefined {
    const { usage } = this.#answer;
    const cut = usage && this.#run.promptWatch.receive(this.#sent.model, usage);
    if (usage && cut) this.#answer.usage = { ...usage, cutTokens: cut.expectedTokens - cut.reportedTokens };
    return cut;
  }
}
