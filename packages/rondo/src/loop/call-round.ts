// Runs the calls of one answer, each as a turn: in parallel or in sequence, with results in call order.

import { Bell } from "../async/bell.ts";
import { untilAborted } from "../async/until-aborted.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { RunTrace } from "../trace/run-trace.ts";
import { Turn } from "../turn/turn.ts";
import type { TurnOptions } from "../turn/turn-options.ts";
import type { LoopEvent, ReadyCall } from "./events.ts";
import type { LoopOptions } from "./options.ts";
import type { RunState } from "./state.ts";
import { type CallOutcome, errorText, failure, success, toToolMessage } from "./tool-result.ts";

/** A call that runs, or that has its outcome already. */
export interface CallToAnswer extends ReadyCall {
  /** The tool's name as the model knows it. */
  readonly wireName: string;
  /** Set for a call that will not run. */
  readonly outcome?: CallOutcome;
  /** Set for a call that runs. */
  readonly tool?: AnyTool;
}

type ToolFinished = Extract<LoopEvent, { type: "tool.finished" }>;

/** A value of a streaming tool, which goes on when it was taken. */
interface Progress {
  readonly event: LoopEvent;
  readonly taken: () => void;
  readonly fail: (error: Error) => void;
}

/** Ends a tool that waits for its progress to be taken when its round is over. */
const roundEnded = new Error("cancelled");

/**
 * The calls of one answer while they are answered: every one exactly once and in order, through `answers`, even if the
 * run is aborted or left.
 */
export class CallRound {
  readonly #calls: readonly CallToAnswer[];
  readonly #answers: (answer: ToolFinished) => void;
  readonly #options: LoopOptions;
  readonly #state: RunState;
  readonly #signal: AbortSignal;
  readonly #trace: RunTrace | undefined;
  readonly #outcomes: (CallOutcome | undefined)[];
  readonly #progress: Progress[] = [];
  readonly #bell = new Bell();
  readonly #running = new Set<Promise<void>>();
  #started = 0;
  #answered = 0;
  /** The call to start when the event of its start was taken. */
  #next: number | undefined;
  /** The progress that was told last: its tool goes on when that was taken, and does not run ahead. */
  #told: Progress | undefined;
  #isOver = false;

  constructor(
    calls: readonly CallToAnswer[],
    answers: (answer: ToolFinished) => void,
    options: LoopOptions,
    state: RunState,
    signal: AbortSignal,
    trace: RunTrace | undefined,
  ) {
    this.#calls = calls;
    this.#answers = answers;
    this.#options = options;
    this.#state = state;
    this.#signal = signal;
    this.#trace = trace;
    this.#outcomes = calls.map((call) => call.outcome);
  }

  /** The next event, when the last one was taken; a promise if there is none yet; undefined after the last. */
  next(): LoopEvent | Promise<void> | undefined {
    this.#goOn();
    while (this.#answered < this.#calls.length) {
      const call = this.#calls[this.#started];
      // In sequence: each result is committed before the next call starts.
      if (call && (this.#options.parallelToolCalls !== false || this.#started === this.#answered)) {
        const index = this.#started++;
        if (!call.tool || this.#signal.aborted) continue;
        const { id, name, input } = call;
        this.#next = index;
        return { type: "tool.started", id, name, input, state: this.#state };
      }
      this.#told = this.#progress.shift();
      if (this.#told) return this.#told.event;
      if (this.#outcomes[this.#answered] || this.#running.size === 0) return this.#answerNext();
      return this.#bell.sleep(); // an abort shows as the end of the running tools
    }
    return undefined;
  }

  /**
   * Ends it, also early, and waits for running tools. Those that tell progress end there: nobody takes it any more. Each
   * call still gets its answer.
   */
  end(): Promise<void> | undefined {
    this.#isOver = true;
    this.#next = undefined;
    this.#told?.fail(roundEnded);
    for (const { fail } of this.#progress.splice(0)) fail(roundEnded);
    if (this.#running.size > 0) return Promise.all(this.#running).then(() => this.#answerAll());
    this.#answerAll();
    return undefined;
  }

  #answerAll(): void {
    while (this.#answered < this.#calls.length) this.#answerNext();
  }

  /** Does what waited for the last event to be taken. */
  #goOn(): void {
    const index = this.#next;
    const told = this.#told;
    this.#next = undefined;
    this.#told = undefined;
    told?.taken();
    if (index !== undefined && !this.#signal.aborted) this.#start(this.#calls[index] as CallToAnswer, index);
  }

  #start(call: CallToAnswer, index: number): void {
    const onProgress = (value: unknown) =>
      new Promise<void>((taken, fail) => {
        if (this.#isOver) return fail(roundEnded);
        const event = { type: "tool.progress", id: call.id, name: call.name, value } as const;
        this.#progress.push({ event, taken, fail });
        return this.#bell.ring();
      });
    const shared = { signal: this.#signal, trace: this.#trace };
    const work = runCall(call, this.#options, shared, onProgress).then((outcome) => {
      this.#outcomes[index] = outcome;
      this.#running.delete(work);
      return this.#bell.ring();
    });
    this.#running.add(work);
  }

  #answerNext(): ToolFinished {
    const call = this.#calls[this.#answered] as CallToAnswer;
    const { id, name, input } = call;
    const { result, isError } = this.#outcomes[this.#answered] ?? failure(name, "cancelled");
    const message = toToolMessage(call, result, this.#options.describeFailure);
    const answer = { type: "tool.finished", id, name, input, message, result, isError } as const;
    this.#answered += 1;
    this.#answers(answer);
    return answer;
  }
}

/** Runs one call. Never throws: a failure is an outcome too. */
async function runCall(
  { id, input, name, tool }: CallToAnswer,
  { agent, graceMs, turnIdFor, routeResult }: LoopOptions,
  { signal, trace }: { readonly signal: AbortSignal; readonly trace: RunTrace | undefined },
  onProgress: (value: unknown) => Promise<void>,
): Promise<CallOutcome> {
  const turnOptions: TurnOptions = { source: "model", callId: id };
  if (turnIdFor) turnOptions.uuid = turnIdFor(id);
  const runOptions = {
    signal,
    ...(graceMs !== undefined && { graceMs }),
    ...(agent && { agent }),
    ...(trace && { tracer: trace }),
  };
  const route = routeResult && (async (value: unknown) => (await routeResult(value)) ?? value);
  try {
    const turn = new Turn(tool as AnyTool, input, turnOptions);
    if (!turn.tool.isStreaming) {
      const result = await turn.returning(runOptions);
      return success(route ? await route(result) : result);
    }
    for await (const value of turn.yielding(runOptions)) {
      const routed = route ? await route(value) : value;
      if (routed === value) await untilAborted(onProgress(value), signal);
    }
    return success(route && turn.hasReturned ? await route(turn.output) : turn.output);
  } catch (error) {
    return failure(name, signal.aborted && error === signal.reason ? "cancelled" : errorText(error));
  }
}
