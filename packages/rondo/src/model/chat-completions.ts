// Models behind an OpenAI-compatible chat-completions API: the options, checked once, and the provider.

import { send } from "#http";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  checkDuration,
  checkLimit,
  checkOptions,
  checkPlainObject,
  checkSignal,
  checkString,
} from "../error/check.ts";
import { AnswerTrace } from "../trace/answer-trace.ts";
import { answerLimits } from "./answer-limits.ts";
import { askModel, type ChatSetup } from "./ask-model.ts";
import { checkProfile } from "./check-profile.ts";
import { DeltaStream } from "./delta-stream.ts";
import { Endpoint, type EndpointOptions } from "./endpoint.ts";
import { environment } from "./environment.ts";
import { type FetchFunction, sendBy } from "./http/send-by.ts";
import { LearnedProfile } from "./learning/learned-profile.ts";
import type { ModelProfile } from "./profile.ts";
import type { ModelProvider } from "./provider.ts";
import { requestBody } from "./request-body.ts";
import { type RetryOptions, retryPolicy } from "./retry.ts";

export interface OpenAICompatibleOptions extends EndpointOptions {
  /** The model, as its server names it. Default: the environment's `RONDO_MODEL`. */
  model?: string | undefined;
  /**
   * The kind of server: `ollama`, `lmstudio`, `llamacpp`, `vllm`, `sglang`. Default: what the server tells, once a
   * request depends on it; until then its port is a hint.
   */
  server?: string | undefined;
  /** Fields of the profile that differ from the picked one. Default: none. */
  profile?: Partial<ModelProfile> | undefined;
  /** How many requests this endpoint may have in flight; the others are queued. Default: no limit. */
  maxConcurrency?: number | undefined;
  /** When and how often to retry, always before the first byte of an answer; `false` for never. Default: 3 attempts. */
  retry?: RetryOptions | false | undefined;
  /** Time for a whole request, retries included, once it left the queue. Default: no limit. */
  timeoutMs?: number | undefined;
  /**
   * How long the server may be silent, before and during its answer. Default: 600,000. If it is set, answers are
   * always streamed: nothing else shows that a server is still working.
   */
  idleTimeoutMs?: number | undefined;
  /**
   * How many bytes one answer may have, decompressed, including the JSON around its text. A larger one fails with an
   * `AnswerLimitError`. Default: 67,108,864 (64 MiB), some 200,000 streamed tokens.
   */
  maxAnswerBytes?: number | undefined;
  /** How many tool calls one answer may have. With more it fails, and none of them runs. Default: 128. */
  maxCallsPerAnswer?: number | undefined;
  /** Replaces the runtime's own HTTP. Default: none. */
  fetch?: FetchFunction | undefined;
}

const known: readonly (keyof OpenAICompatibleOptions)[] = [
  "baseURL",
  "apiKey",
  "headers",
  "model",
  "server",
  "profile",
  "maxConcurrency",
  "retry",
  "timeoutMs",
  "idleTimeoutMs",
  "maxAnswerBytes",
  "maxCallsPerAnswer",
  "fetch",
];

/**
 * A model behind an OpenAI-compatible endpoint, such as
 * `openaiCompatible({ baseURL: "http://localhost:8000/v1", model: "qwen3:8b" })`.
 *
 * Its streams throw a `ModelError` or a `TimeoutError` that names the endpoint and the next step. Leaving a
 * stream, aborting its signal and running into a limit close the connection at once.
 */
export function openaiCompatible(options: OpenAICompatibleOptions): ModelProvider {
  const setup = checkSetup(options);
  const { endpoint, model, learned, mayAskWhole } = setup;
  return {
    name: model,
    endpoint: endpoint.label,
    get profile() {
      return learned.current;
    },
    learn: (learnOptions) => learned.learn(learnOptions),
    countsPrompts: true,
    stream(request) {
      checkPlainObject("request", request);
      const signal = checkSignal("signal", request.signal);
      const mayBeWhole = mayAskWhole && request.wholeAnswer === true;
      let profile = learned.current;
      let body = requestBody(request, model, profile, mayBeWhole);
      const currentBody = () => {
        if (profile !== learned.current) {
          profile = learned.current;
          body = requestBody(request, model, profile, mayBeWhole);
        }
        return body;
      };
      const bodyFor = (attempt: AbortSignal) =>
        learned.isNeededFor(request) ? learned.learn({ signal: attempt }).then(currentBody) : currentBody();
      const trace = request.tracer && AnswerTrace.of(request.tracer);
      return new DeltaStream((sink) => askModel(setup, bodyFor, sink, trace), signal);
    },
  };
}

/** The options, checked, with their defaults. */
export function checkSetup(options: OpenAICompatibleOptions): ChatSetup {
  checkOptions("options", options, known);
  const { server, fetch, maxConcurrency, timeoutMs, idleTimeoutMs } = options;
  const endpoint = new Endpoint(options);
  const model = checkModel(options.model ?? environment("RONDO_MODEL"));
  if (options.profile !== undefined) checkProfile("profile", options.profile);
  if (server !== undefined) checkString("server", server);
  if (fetch !== undefined && typeof fetch !== "function")
    throw new InvalidTypeError({ field: "fetch", expected: "a function like fetch", received: fetch });
  const sending = fetch ? sendBy(fetch) : send;
  const override = options.profile ?? {};
  return {
    endpoint,
    model,
    learned: new LearnedProfile({ endpoint, send: sending, model, server, override }),
    send: sending,
    maxConcurrency: limit("maxConcurrency", maxConcurrency),
    retry: retryPolicy("retry", options.retry),
    timeoutMs: checkDuration("timeoutMs", timeoutMs ?? Number.POSITIVE_INFINITY),
    limits: answerLimits(options),
    idleTimeoutMs: checkDuration("idleTimeoutMs", idleTimeoutMs ?? 600_000),
    mayAskWhole:
      override.onlyStreams !== true &&
      (idleTimeoutMs === undefined || idleTimeoutMs === Number.POSITIVE_INFINITY),
  };
}

function limit(field: string, value: number | undefined): number {
  return value === undefined || value === Number.POSITIVE_INFINITY
    ? Number.POSITIVE_INFINITY
    : checkLimit(field, value);
}

function checkModel(model: unknown): string {
  const field = "model";
  const expected = "the name of a model, such as qwen3:8b";
  const hint = "Pass model or set RONDO_MODEL; listModels() tells which models the server has.";
  if (model !== undefined && typeof model !== "string")
    throw new InvalidTypeError({ field, expected, received: model });
  if (model === undefined || model.trim() === "")
    throw new InvalidArgumentError({ field, expected, received: model, hint });
  return model;
}
