// Runs the calls of one answer, each as a turn: at the same time or one after the other, answers in call order.

import { Bell } from "../async/bell.ts";
import { untilAborted } from "../async/until-aborted.ts";
import type { AnyTool } from "../tool/tool.ts";
import { Turn } from "../turn/turn.ts";
import type { TurnOptions } from "../turn/turn-options.ts";
import type { LoopEvent, ReadyCall } from "./events.ts";
import type { LoopOptions } from "./options.ts";
import { type CallOutcome, errorText, failure, success, toToolMessage } from "./tool-result.ts";

/** A call, with what is known of its answer before any tool runs. */
export interface CallToAnswer extends ReadyCall {
  /** The tool's name as the model knows it. */
  readonly wireName: string;
  /** Set for a call that will not run. */
  readonly outcome?: CallOutcome;
  /** Set for a call that runs. */
  readonly tool?: AnyTool;
}

type ToolFinished = Extract<LoopEvent, { type: "tool.finished" }>;

/**
 * Answers every call, whatever happens: `answers` gets one answer per call in their order, also when the run is
 * aborted or left in the middle.
 */
export async function* runCalls(
  calls: readonly CallToAnswer[],
  answers: (answer: ToolFinished) => void,
  options: LoopOptions,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, void, void> {
  const outcomes = calls.map((call) => call.outcome);
  const progress: { readonly event: LoopEvent; readonly taken: () => void }[] = [];
  const bell = new Bell();
  const running = new Set<Promise<void>>();
  let answered = 0;

  const start = (call: CallToAnswer, index: number) => {
    const onProgress = (value: unknown) =>
      new Promise<void>((taken) => {
        progress.push({ event: { type: "tool.progress", id: call.id, name: call.name, value }, taken });
        bell.ring();
      });
    const work = runCall(call, options, signal, onProgress).then((outcome) => {
      outcomes[index] = outcome;
      running.delete(work);
      return bell.ring();
    });
    running.add(work);
  };
  /** Passes on what has come until there is nothing more: progress, and answers as far as the order allows. */
  const pending = function* (): Generator<LoopEvent> {
    while (true) {
      const next = progress.shift();
      if (next) {
        yield next.event;
        next.taken(); // the tool goes on when its value was taken, and does not run ahead
      } else if (answered < calls.length && outcomes[answered]) yield answerNext();
      else return;
    }
  };
  const answerNext = (): ToolFinished => {
    const call = calls[answered] as CallToAnswer;
    const { id, name, input } = call;
    const { result, isError } = outcomes[answered] ?? failure(name, "cancelled");
    const message = toToolMessage(call, result);
    const answer = { type: "tool.finished", id, name, input, message, result, isError } as const;
    answered += 1;
    answers(answer);
    return answer;
  };

  try {
    for (const [index, call] of calls.entries()) {
      if (!call.tool || signal.aborted) continue;
      const { id, name, input } = call;
      yield { type: "tool.started", id, name, input };
      if (signal.aborted) continue;
      start(call, index);
      if (options.parallelToolCalls !== false) continue;
      while (running.size > 0) {
        yield* pending();
        if (running.size > 0) await ring(bell);
      }
      yield* pending(); // who keeps results has this one before the next call starts
    }
    while (answered < calls.length) {
      yield* pending();
      if (running.size > 0) await ring(bell);
      else if (answered < calls.length && !outcomes[answered]) yield answerNext();
    }
  } finally {
    // Left in the middle: the signal is aborted, so that what runs ends soon. Each call still gets its answer.
    await Promise.all(running);
    while (answered < calls.length) answerNext();
  }
}

/** Waits for news. An abort is news too, but it comes as the end of what is running. */
function ring(bell: Bell): Promise<void> {
  return bell.sleep(neverAborted);
}

const neverAborted = new AbortController().signal;

/** Runs one call. A failure is an outcome too: the model is told, and nothing is thrown. */
async function runCall(
  { id, input, name, tool }: CallToAnswer,
  { agent, graceMs, turnIdFor, routeResult }: LoopOptions,
  signal: AbortSignal,
  onProgress: (value: unknown) => Promise<void>,
): Promise<CallOutcome> {
  const turnOptions: TurnOptions = { source: "model", callId: id };
  if (turnIdFor) turnOptions.uuid = turnIdFor(id);
  const runOptions = { signal, ...(graceMs !== undefined && { graceMs }), ...(agent && { agent }) };
  const route = async (value: unknown) => (await routeResult?.(value)) ?? value;
  try {
    const turn = new Turn(tool as AnyTool, input, turnOptions);
    if (!turn.tool.isStreaming) return success(await route(await turn.returning(runOptions)));
    for await (const value of turn.yielding(runOptions)) {
      const routed = await route(value);
      if (routed === value) await untilAborted(onProgress(value), signal);
    }
    return success(turn.hasReturned ? await route(turn.output) : turn.output);
  } catch (error) {
    return failure(name, signal.aborted && error === signal.reason ? "cancelled" : errorText(error));
  }
}
