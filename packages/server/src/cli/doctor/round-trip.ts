// What a model must be able to do, tried on the model itself: answer, stream, and call a tool.

import { EmptyAnswerError, type ModelProvider, ModelRequestError, UnexpectedAnswerError } from "rondo";
import { ask, quote } from "./ask.ts";
import { type Asked, diagnose } from "./diagnose.ts";
import { answerPrompt, maxTokens, streamPrompt, withoutText } from "./questions.ts";
import type { Finding, StepName, StepReport } from "./report.ts";
import { type ToolStepOptions, toolStep } from "./tool-step.ts";

export interface RoundTripOptions extends Pick<ToolStepOptions, "withAllDialects"> {
  readonly asked: Asked;
  /** Ends it all with its reason. */
  readonly signal: AbortSignal;
  readonly onStart: (step: StepName) => void;
  readonly onEnd: (report: StepReport) => void;
}

/** Takes the steps one after the other. After one that says that the server is out of order, the others are left out. */
export async function roundTrip(provider: ModelProvider, options: RoundTripOptions): Promise<StepReport[]> {
  return takeSteps(
    {
      answer: (signal) => answerStep(provider, signal),
      stream: (signal) => streamStep(provider, signal),
      tool: (signal) => toolStep(provider, { signal, withAllDialects: options.withAllDialects }),
    },
    options,
  );
}

export type Steps = Record<StepName, (signal: AbortSignal) => Promise<Finding>>;

/** Takes each step within the time limit, and makes findings of what it throws. */
export async function takeSteps(
  steps: Steps,
  { asked, signal, onStart, onEnd }: Omit<RoundTripOptions, "withAllDialects">,
): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (const step of ["answer", "stream", "tool"] as const) {
    onStart(step);
    const startedAt = performance.now();
    let goesOn = true;
    const finding = await steps[step](AbortSignal.any([signal, AbortSignal.timeout(asked.timeoutMs)])).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        goesOn = isAboutRequest(error);
        return wordStep(error, step, asked);
      },
    );
    const report = { step, ...finding, ms: Math.round(performance.now() - startedAt) };
    reports.push(report);
    onEnd(report);
    if (!goesOn) break;
  }
  return reports;
}

/** Whether another request may go better. */
function isAboutRequest(error: unknown): boolean {
  return (
    error instanceof ModelRequestError ||
    error instanceof UnexpectedAnswerError ||
    error instanceof EmptyAnswerError
  );
}

function wordStep(error: unknown, step: StepName, asked: Asked): Finding {
  const finding = diagnose(error, asked);
  if (finding.code === "hangs")
    return {
      ...finding,
      code: "slow",
      message: `there was no complete answer within ${asked.timeoutMs / 1000} s`,
      advice:
        "A large model takes long to load: try again, or allow more with --timeout SECONDS. If it stays so, the server's log says whether it hangs.",
    };
  if (finding.code !== "refused") return finding;
  return step === "tool" && error instanceof ModelRequestError
    ? {
        ...finding,
        code: "no_tools",
        message: `it refuses a request with tools (${error.said || `status ${error.status}`})`,
        advice:
          "Choose a model that can use tools (on Ollama, `ollama show MODEL` lists 'tools'); vLLM needs --enable-auto-tool-choice and --tool-call-parser.",
      }
    : { ...finding, advice: "The message says what the server does not take." };
}

async function answerStep(provider: ModelProvider, signal: AbortSignal): Promise<Finding> {
  const answer = await ask(provider, {
    messages: [{ role: "user", content: answerPrompt }],
    // Some servers refuse options of a stream where there is none.
    settings: { maxTokens, extraBody: { stream: false, stream_options: undefined } },
    signal,
  });
  return withoutText(answer) ?? { status: "ok", code: "ok", message: `it said ${quote(answer.text)}` };
}

async function streamStep(provider: ModelProvider, signal: AbortSignal): Promise<Finding> {
  const answer = await ask(provider, {
    messages: [{ role: "user", content: streamPrompt }],
    settings: { maxTokens },
    signal,
  });
  return withoutText(answer) ?? wordPieces(answer.pieceCount, answer.firstMs);
}

export function wordPieces(count: number, firstMs: number): Finding {
  if (count > 1)
    return {
      status: "ok",
      code: "ok",
      message: `${count} pieces, the first after ${(firstMs / 1000).toFixed(1)} s`,
    };
  return {
    status: "warning",
    code: "one_piece",
    message: "the whole answer came in one piece",
    advice: "It works, but nothing can be shown early. A proxy in between may hold the stream back.",
  };
}
