// One answer of the model: the request, its events, and the message and the checked calls that it becomes.

import { PromptCutError } from "../error/prompt-cut-error.ts";
import type { AssistantMessage } from "../model/message.ts";
import type { ModelProvider, ModelRequest, OutputFormat } from "../model/provider.ts";
import { estimateUsage } from "../model/usage.ts";
import { AnswerTrace } from "../trace/answer-trace.ts";
import { type Answer, isAnsweredHere, newAnswer, toEvent, toMessage, withOwnId } from "./answer.ts";
import { rejectCall } from "./check-call.ts";
import type { LoopEvent } from "./events.ts";
import type { PromptCut, PromptWatch } from "./prompt-watch.ts";
import type { RunContext } from "./run-context.ts";
import { isShapedLast, shapedText, shapeInWords } from "./shaped-answer.ts";
import { askedOf, finishedOf, isToken } from "./traced.ts";

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
  const isAnswered = yield* askOnce(run, draft, output);
  // The same tools, so that the beginning of the prompt stays the same.
  if (!isAnswered && !signal.aborted)
    yield* askOnce(run, { ...request, toolChoice: "none" }, undefined, true);
}

/**
 * Sends one request. The message is in the conversation when this ends, however it ends. A `draft` is an answer that
 * still has to get its shape: its text is held back, and dropped if it has neither calls nor the shape. Returns
 * whether there is an answer.
 */
async function* askOnce(
  run: RunContext,
  request: ModelRequest,
  draft?: OutputFormat,
  isContinued = false,
): AsyncGenerator<LoopEvent, boolean, void> {
  const { options, view, promptWatch, progress, signal } = run;
  const answer = newAnswer();
  let isStarted = false;
  let isDropped = false;
  let isComplete = false;
  let message: AssistantMessage | undefined;
  // A model that asks another one, or cuts the conversation to a window, tells.
  let sent = { request, model: options.model };
  const trace = run.trace && new AnswerTrace(run.trace);
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
    for await (const delta of options.model.stream(asked)) {
      // Warnings come before an answer: of tries that failed.
      if (!isStarted && delta.type !== "warning") {
        isStarted = true;
        if (!isContinued) yield { type: "model.started", model: options.model.name };
        const change = promptWatch.send(sent.request);
        if (change) yield run.tell({ type: "prompt.changed", ...change });
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
          answer.calls.push(withOwnId(view.unwrap(delta), answer.calls));
          break;
        case "finished":
          answer.finishReason = delta.finishReason;
          answer.usage = delta.usage;
          answer.timings = delta.timings;
          break;
        case "call.started":
        case "call.delta":
          answer.callText += delta.type === "call.delta" ? delta.text : delta.name;
          if (options.tellsCallPieces !== false) yield delta;
          break;
        case "warning":
          yield run.tell(delta);
          break;
        default:
          yield delta;
      }
    }
    const cut = findCut(answer, sent.model, promptWatch);
    trace?.finished(finishedOf(answer));
    if (cut) yield run.tell({ type: "prompt.cut", ...cut });
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
    progress.countAnswer(answer);
    run.open = [];
    if (cut && options.onPromptCut === "error") throw new PromptCutError(options.model.endpoint, cut);
    if (answer.calls.length > 0) {
      run.open = await run.check(answer.calls, progress.repeats.check(answer.calls), {
        answer: trace?.answer,
      });
      run.countRound();
    }
    isComplete = true;
  } catch (error) {
    trace?.failed(error);
    if (!signal.aborted || error !== signal.reason) throw error;
    if (!isStarted) return true;
    // Interrupted: what was said is kept, and calls that were complete are answered 'cancelled'.
    run.open = answer.calls.map((raw) => rejectCall(raw, "denied", "cancelled"));
  } finally {
    trace?.failed(signal.reason); // left
    if (isStarted && !isComplete && !isDropped)
      answer.usage ??= estimateUsage(sent.request, answer.text + answer.thinking + answer.callText);
    progress.countUsage(answer);
    // Before anyone hears of the calls, so that their results find them. Where the stream was left or failed,
    // there are no calls, but what was said is kept; a draft was not said.
    if (draft && !isComplete) answer.text = "";
    const hasContent = run.open.length > 0 || answer.text !== "" || answer.thinking !== "";
    if (isComplete || (isStarted && hasContent && !isDropped)) {
      const left = run.open.filter((call) => !isAnsweredHere(call)).map(({ raw }) => raw.id);
      message = toMessage(answer, run.open);
      run.commit(message, left);
    }
  }
  run.upcoming.push(...run.open.map(toEvent));
  const { finishReason, usage } = answer;
  if (message)
    run.upcoming.push({ type: "model.finished", message, finishReason, usage, state: progress.state });
  return true;
}

/** What the server left out of the prompt. The answer's usage counts it. */
function findCut(answer: Answer, model: ModelProvider, promptWatch: PromptWatch): PromptCut | undefined {
  const { usage } = answer;
  const cut = usage && promptWatch.receive(model, usage);
  if (usage && cut) answer.usage = { ...usage, cutTokens: cut.expectedTokens - cut.reportedTokens };
  return cut;
}
