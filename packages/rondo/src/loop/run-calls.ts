// Runs the calls of one answer, each as a turn: in parallel or in sequence, with results in call order.

import { Bell } from "../async/bell.ts";
import { untilAborted } from "../async/until-aborted.ts";
import { neverAborted } from "../hook/fire.ts";
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

/** Answers every call exactly once and in order, through `answers`, even if the run is aborted or left. */
export async function* runCalls(
  calls: readonly CallToAnswer[],
  answers: (answer: ToolFinished) => void,
  options: LoopOptions,
  state: RunState,
  signal: AbortSignal,
  trace: RunTrace | undefined,
): AsyncGenerator<LoopEvent, void, void> {
  const outcomes = calls.map((call) => call.outcome);
  const progress: { readonly event: LoopEvent; readonly taken: () => void }[] = [];
  const bell = new Bell();
  const running = new Set<Promise<void>>();
  let started = 0;
  let answered = 0;

  const start = (call: CallToAnswer, index: number) => {
    const onProgress = (value: unknown) =>
      new Promise<void>((taken) => {
        progress.push({ event: { type: "tool.progress", id: call.id, name: call.name, value }, taken });
        bell.ring();
      });
    const work = runCall(call, options, { signal, trace }, onProgress).then((outcome) => {
      outcomes[index] = outcome;
      running.delete(work);
      return bell.ring();
    });
    running.add(work);
  };
  const answerNext = (): ToolFinished => {
    const call = calls[answered] as CallToAnswer;
    const { id, name, input } = call;
    const { result, isError } = outcomes[answered] ?? failure(name, "cancelled");
    const message = toToolMessage(call, result, options.describeFailure);
    const answer = { type: "tool.finished", id, name, input, message, result, isError } as const;
    answered += 1;
    answers(answer);
    return answer;
  };

  try {
    while (answered < calls.length) {
      const call = calls[started];
      // In sequence: each result is committed before the next call starts.
      if (call && (options.parallelToolCalls !== false || started === answered)) {
        const index = started++;
        if (!call.tool || signal.aborted) continue;
        const { id, name, input } = call;
        yield { type: "tool.started", id, name, input, state };
        if (!signal.aborted) start(call, index);
        continue;
      }
      const next = progress.shift();
      if (next) {
        yield next.event;
        next.taken(); // the tool goes on when its value was taken, and does not run ahead
      } else if (outcomes[answered] || running.size === 0) yield answerNext();
      else await ring(bell);
    }
  } finally {
    // Left early: the signal is aborted, so that running tools end soon. Each call still gets its answer.
    await Promise.all(running);
    while (answered < calls.length) answerNext();
  }
}

/** Waits for progress or an outcome. An abort shows as the end of the running tools. */
function ring(bell: Bell): Promise<void> {
  return bell.sleep(neverAborted());
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
