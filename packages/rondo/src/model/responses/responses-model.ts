// Models behind the Responses API: those of a Rondo server, of OpenAI, and of others that speak it.

import { InvalidTypeError } from "../../error/argument-errors.ts";
import { checkBoolean, checkPlainObject, checkSignal, checkString } from "../../error/check.ts";
import type { JsonObject } from "../../json/json-value.ts";
import { AnswerTrace } from "../../trace/answer-trace.ts";
import { checkSetup, type OpenAICompatibleOptions } from "../chat-completions.ts";
import { DeltaStream } from "../delta-stream.ts";
import type { Message } from "../message.ts";
import type { ModelProvider } from "../provider.ts";
import { type ApprovalRequest, askResponses } from "./ask-responses.ts";
import { ResponseChain } from "./response-chain.ts";
import { checkRequest } from "./response-request.ts";

export interface ResponsesModelOptions extends Omit<OpenAICompatibleOptions, "baseURL" | "server"> {
  /** The model, as its server names it. Default: the server's own default, where it has one. */
  model?: string | undefined;
  /**
   * Whether the server keeps the responses. Each request then goes on from the last response and sends only what is
   * new, as long as it continues the same conversation; otherwise it sends the whole. Default: false.
   */
  store?: boolean | undefined;
  /**
   * A stored response that an earlier process got: `messages` is the conversation up to it and with it, without the
   * system prompt. With `store`, a request that continues this conversation goes on from there. Default: none.
   */
  continues?: { readonly responseId: string; readonly messages: readonly Message[] } | undefined;
  /**
   * Decides about a call that the server wants approved before it runs it; the answer then goes on. Default: nobody
   * does, the answer ends, and the server does not run the call.
   */
  approve?: ((request: ApprovalRequest, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /** Called with each response when it has ended, as the server sent it: its id, status and items. */
  onResponse?: ((response: JsonObject) => void) | undefined;
}

/**
 * A model behind a Responses API, such as `responsesModel("http://localhost:4500/v1", { model: "qwen3:8b" })`.
 *
 * Tools that you give run here. Those of the server run there, and their events come as `server.event`. Streams fail
 * like those of `openaiCompatible()`, with the same limits; a response that failed is a `ReportedStreamError`.
 */
export function responsesModel(url: string, options: ResponsesModelOptions = {}): ModelProvider {
  checkPlainObject("options", options);
  const { model, store = false, continues, approve, onResponse, ...others } = options;
  checkBoolean("store", store);
  if (continues !== undefined) checkString("continues.responseId", continues?.responseId);
  for (const [field, value] of Object.entries({ approve, onResponse }))
    if (value !== undefined && typeof value !== "function")
      throw new InvalidTypeError({ field, expected: "a function", received: value });
  const chat = checkSetup({
    ...others,
    baseURL: typeof url === "string" ? url.replace(/\/responses\/*$/, "") : url,
    model: model ?? "default",
    profile: { outputMode: "native", shapeWithTools: "together", toolDialects: [], ...others.profile },
  });
  const chain = store ? new ResponseChain() : undefined;
  if (continues) chain?.restore(continues.responseId, continues.messages);
  const setup = { chat, model, approve, onResponse, chain };
  return {
    name: chat.model,
    endpoint: chat.endpoint.label,
    profile: chat.learned.current,
    stream(request) {
      checkPlainObject("request", request);
      const signal = checkSignal("signal", request.signal);
      const checked = checkRequest(request);
      const trace = request.tracer && AnswerTrace.of(request.tracer);
      return new DeltaStream((sink) => askResponses(setup, checked, sink, trace), signal);
    },
  };
}
