// One answer of the model: the request, its events, and the message and the checked calls that it becomes.

import type { ModelRequest, OutputFormat } from "../model/provider.ts";
import type { LoopEvent } from "./events.ts";
import { OpenAnswer, type OpenAnswerOptions } from "./open-answer.ts";
import type { RunContext } from "./run-context.ts";
import { isShapedLast, shapeInWords } from "./shaped-answer.ts";

/** Asks the model for one answer: once, or a second time for its shape. */
export function ask(run: RunContext): AsyncGenerator<LoopEvent, unknown, void> {
  const { output } = run.options;
  return output ? askForShape(run, output) : askOnce(run, run.request());
}

async function* askForShape(run: RunContext, output: OutputFormat): AsyncGenerator<LoopEvent, void, void> {
  const { options, signal } = run;
  const request = run.request();
  const profile = (await options.model.learn?.({ signal })) ?? options.model.profile;
  if (profile.outputMode === "prompt" && !run.hasWarned) {
    run.hasWarned = true;
    yield run.tell({ type: "warning", ...shapeInWords });
  }
  if (!isShapedLast(request, profile)) {
    yield* askOnce(run, request);
    return;
  }
  const { output: _, ...draft } = request;
  const isAnswered = yield* askOnce(run, draft, { draft: output });
  // The same tools, so that the beginning of the prompt stays the same.
  if (!isAnswered && !signal.aborted)
    yield* askOnce(run, { ...request, toolChoice: "none" }, { isContinued: true });
}

/**
 * Sends one request. The message is in the conversation when this ends, however it ends. Returns whether there is an
 * answer: a draft is dropped if it has neither calls nor its shape.
 */
async function* askOnce(
  run: RunContext,
  request: ModelRequest,
  options?: OpenAnswerOptions,
): AsyncGenerator<LoopEvent, boolean, void> {
  const answer = new OpenAnswer(run, request, options);
  let told: readonly LoopEvent[] = [];
  // Few variables and little code: all of them are saved and restored with each event.
  try {
    for await (const delta of run.options.model.stream(answer.request)) {
      if (!answer.isStarted && delta.type !== "warning") for (const event of answer.start()) yield event;
      const event = answer.take(delta);
      if (event) yield event;
    }
    for (const event of answer.end()) yield event;
    if (answer.isDropped) return false;
    await answer.complete();
  } catch (error) {
    answer.fail(error);
    if (!answer.isStarted) return true;
  } finally {
    told = answer.commit();
  }
  run.upcoming.push(...told);
  return true;
}
