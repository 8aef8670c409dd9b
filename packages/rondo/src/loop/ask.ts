// One answer of the model: the request, its events, and the message and the checked calls that it becomes.

import { RunLeft } from "../async/telling.ts";
import type { ModelRequest, OutputFormat } from "../model/provider.ts";
import type { LoopEvent } from "./events.ts";
import { OpenAnswer, type OpenAnswerOptions } from "./open-answer.ts";
import type { RunContext } from "./run-context.ts";
import { isShapedLast, shapeInWords } from "./shaped-answer.ts";

/** Asks the model for one answer: once, or a second time for its shape. */
export function ask(run: RunContext): Promise<unknown> {
  const { output } = run.options;
  return output ? askForShape(run, output) : askOnce(run, run.request());
}

async function askForShape(run: RunContext, output: OutputFormat): Promise<void> {
  const { options, signal } = run;
  const request = run.request();
  const profile = (await options.model.learn?.({ signal })) ?? options.model.profile;
  if (profile.outputMode === "prompt" && !run.hasWarned) {
    run.hasWarned = true;
    await run.tell(run.traced({ type: "warning", ...shapeInWords }));
  }
  if (!isShapedLast(request, profile)) {
    await askOnce(run, request);
    return;
  }
  const { output: _, ...draft } = request;
  const isAnswered = await askOnce(run, draft, { draft: output });
  // The same tools, so that the beginning of the prompt stays the same.
  if (!isAnswered && !signal.aborted)
    await askOnce(run, { ...request, toolChoice: "none" }, { isContinued: true });
}

/**
 * Sends one request. The message is in the conversation when this ends, however it ends. Returns whether there is an
 * answer: a draft is dropped if it has neither calls nor its shape.
 */
async function askOnce(
  run: RunContext,
  request: ModelRequest,
  options?: OpenAnswerOptions,
): Promise<boolean> {
  const answer = new OpenAnswer(run, request, options);
  let told: readonly LoopEvent[] = [];
  let left: RunLeft | undefined;
  try {
    for await (const delta of run.options.model.stream(answer.request))
      try {
        if (!answer.isStarted && delta.type !== "warning") {
          const taken = run.tellAll(answer.start());
          if (taken) await taken;
        }
        const event = answer.take(delta);
        const taken = event && run.tell(event);
        if (taken) await taken;
      } catch (error) {
        if (!(error instanceof RunLeft)) throw error;
        left = error;
        break; // thrown from here, it would hide an error of the model's cleanup
      }
    if (left) throw left;
    const taken = run.tellAll(answer.end());
    if (taken) await taken;
    if (answer.isDropped) return false;
    await answer.complete();
  } catch (error) {
    if (error instanceof RunLeft) throw error;
    answer.fail(error);
    if (!answer.isStarted) return true;
  } finally {
    told = answer.commit();
  }
  await run.tellAll(told);
  return true;
}
