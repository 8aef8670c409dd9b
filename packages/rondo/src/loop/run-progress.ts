// How far a run has come: counts its answers, rounds, calls and tokens, and tells which limit it reached.

import type { ToolCall, ToolMessage } from "../model/message.ts";
import type { Usage } from "../model/provider.ts";
import { addUsage } from "../model/usage.ts";
import { type Answer, isAnsweredHere } from "./answer.ts";
import type { CallHere, CheckedCall } from "./check-call.ts";
import type { LoopOptions } from "./options.ts";
import { Repeats } from "./repeats.ts";
import { initialState, type RunState } from "./state.ts";

const defaultMaxRepeats = 3;

export class RunProgress {
  readonly #options: LoopOptions;
  readonly repeats: Repeats;
  #state: RunState;
  /** Whether the model is asked for an answer without calls. */
  isFinalAnswer: boolean;
  /** Whether the model is offered its tools, also where it may not call them. */
  offersTools = true;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#state = options.state ?? initialState;
    this.isFinalAnswer = this.#state.isFinalAnswer === true;
    this.repeats = new Repeats(this.#maxRepeats, this.#state.repeats);
  }

  get state(): RunState {
    return this.#state;
  }

  /** Whether the model only makes mistakes: then it is not asked forever. */
  get isStuck(): boolean {
    return this.#state.fruitlessAnswers > this.#maxRepeats;
  }

  get #maxRepeats(): number {
    return this.#options.maxRepeats ?? defaultMaxRepeats;
  }

  /** Counts the tokens of an answer, once. */
  countUsage(answer: Answer): void {
    const { usage } = answer;
    if (!usage || answer.isCounted) return;
    answer.isCounted = true;
    this.#state = { ...this.#state, usage: addUsage(this.#state.usage, usage) as Usage };
    this.#options.onUsage?.(usage);
  }

  countAnswer(answer: Answer): void {
    this.countUsage(answer);
    const { rounds, callsRun, fruitlessAnswers, isFinalAnswer, isLastTry, usage, retryTool } = this.#state;
    // What an earlier round came to is left out.
    this.#state = {
      version: 1,
      answers: this.#state.answers + 1,
      rounds,
      callsRun,
      fruitlessAnswers,
      finishReason: answer.finishReason,
      ...(usage && { usage }),
      ...((isFinalAnswer || this.isFinalAnswer) && { isFinalAnswer: true as const }),
      ...((isLastTry || !this.offersTools) && { isLastTry: true as const }),
      ...(retryTool !== undefined && { isRetry: true as const }),
    };
  }

  /**
   * Counts the round of calls before any of them runs: which may run, and which a limit stops. `retryTool` is the one
   * that the model must call next.
   */
  countRound(calls: readonly CheckedCall[], retryTool: string | undefined): void {
    const { maxToolIterations = Number.POSITIVE_INFINITY, maxToolCalls = Number.POSITIVE_INFINITY } =
      this.#options;
    const state = this.#state;
    const here = calls.filter(isAnsweredHere);
    const runnable = here.filter(({ decision }) => decision === "run");
    const rounds = state.rounds + (here.length > 0 ? 1 : 0);
    // The model is not asked again here after calls of the client, so that this is no further round.
    const isLastRound = rounds > maxToolIterations && here.length === calls.length;
    const mayRun = isLastRound ? 0 : Math.max(0, maxToolCalls - state.callsRun);
    const overLimit = runnable.slice(mayRun).map(({ raw }) => raw.id);
    const callsRun = runnable.length - overLimit.length;
    const fruitlessAnswers = callsRun === 0 ? state.fruitlessAnswers + 1 : 0;
    const limit = isLastRound ? "max_turns" : overLimit.length > 0 ? "max_tool_calls" : undefined;
    const endsRun = callsRun === 0 && here.some((call) => call.decision === "reject" && call.endsRun);
    const repeats = this.repeats.toStored();
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

  /** Notes the result of a call. */
  noteResult(call: CallHere, { content }: ToolMessage): void {
    // The refusal of a repeated call is not a new result of it.
    if (!("reason" in call && call.reason === "repeated")) this.repeats.note(call.raw, content);
  }

  /** Notes the results that an earlier run had for calls of its last answer. */
  noteEarlierResults(
    calls: readonly ToolCall[],
    repeated: readonly (string | undefined)[],
    results: readonly ToolMessage[],
  ): void {
    const byId = new Map(results.map(({ tool_call_id: id, content }) => [id, content]));
    for (const [index, { id, function: call }] of calls.entries()) {
      const result = byId.get(id);
      if (result !== undefined && repeated[index] === undefined) this.repeats.note(call, result);
    }
  }
}
