// Chat completions, completions and embeddings: passed through to the model's server, so that one base URL serves every
// client. For chat, a model without a server replies through its provider.

import type { ForwardRequest } from "rondo/models";
import { z } from "zod";
import type { Models } from "../../config/models.ts";
import { invalidRequest } from "../../protocol/api-error.ts";
import {
  chatRequestSchema,
  completionRequestSchema,
  embeddingRequestSchema,
  parseChatFrame,
} from "../../protocol/chat-request.ts";
import type { UrlRules } from "../../protocol/input-urls.ts";
import type { Telemetry } from "../../run/telemetry.ts";
import { modelErrors, type Route, type RouteRequest, route } from "../route.ts";
import type { StreamOptions } from "../stream.ts";
import { traceHeadersOf } from "../trace-headers.ts";
import { ChatSpan } from "./chat-span.ts";
import { passThrough } from "./pass-through.ts";
import { type ProviderReplyOptions, replyFromProvider } from "./provider-reply.ts";

export interface ChatRoutesOptions extends StreamOptions {
  models: Pick<Models, "resolve">;
  /** The URLs that a request may have. Default: those of public hosts. */
  urls?: UrlRules;
  /** Knows which trace a request belongs to. Default: none. */
  telemetry?: Pick<Telemetry, "callerOf" | "requestTracer"> | undefined;
}

/**
 * Text in which a URL may hide from our parser but not from another one: of a duplicate key, we see the last. Letters
 * of keys may be escaped.
 */
const mayHideUrl = /_url|(?:https?|file|ftp):|\\u00[2-7]/i;

/** A model without a server. */
type ProviderModel = Omit<ProviderReplyOptions, "body">;

export function chatRoutes(options: ChatRoutesOptions): Route[] {
  /** Forwards a request to the model's server; `orElse` replies for a model without one. */
  const forward = async (
    { exchange, body: { text, value } }: Pick<RouteRequest, "exchange" | "body">,
    path: ForwardRequest["path"],
    orElse: (found: ProviderModel) => Promise<void>,
  ) => {
    const { model: wanted, stream } = parseChatFrame(value, options.urls);
    const { name, provider, forwarder } = await options.models.resolve(wanted);
    exchange.model = name;
    const headers = options.telemetry && traceHeadersOf(exchange.incoming);
    const tracer =
      headers && path === "/chat/completions" ? options.telemetry?.requestTracer(headers) : undefined;
    if (forwarder === undefined) return orElse({ name, provider, stream, tracer });
    // As it came, to the last digit, unless the model has another name there, or another parser may read it otherwise.
    const isSame = text !== undefined && wanted === forwarder.model && !mayHideUrl.test(text);
    const sent = isSame ? text : JSON.stringify({ ...Object(value), model: forwarder.model });
    const { model, endpoint } = forwarder;
    const span = tracer && new ChatSpan(tracer, { model, endpoint, body: value });
    const caller = headers && options.telemetry?.callerOf(headers);
    const traceHeaders = span?.sent(endpoint, sent, stream) ?? (caller && { ...caller });
    return passThrough(exchange, options, { forwarder, path, body: sent, stream, traceHeaders, span });
  };

  return [
    route({
      method: "POST",
      path: "/v1/chat/completions",
      operationId: "createChatCompletion",
      summary: "Call a model by the chat-completions API. Passed through to the model's server as it is.",
      body: chatRequestSchema,
      readsText: true,
      reply: z.looseObject({}),
      events: z.looseObject({}),
      errors: modelErrors,
      handle: (request) =>
        forward(request, "/chat/completions", (found) =>
          replyFromProvider(request.exchange, options, { ...found, body: request.body.value }),
        ),
    }),
    route({
      method: "POST",
      path: "/v1/completions",
      operationId: "createCompletion",
      summary: "Continue a text by the older completions API. Passed through to the model's server as it is.",
      body: completionRequestSchema,
      readsText: true,
      reply: z.looseObject({}),
      events: z.looseObject({}),
      errors: modelErrors,
      handle: (request) => forward(request, "/completions", noServer),
    }),
    route({
      method: "POST",
      path: "/v1/embeddings",
      operationId: "createEmbedding",
      summary: "Embed texts. Passed through to the model's server as it is.",
      body: embeddingRequestSchema,
      readsText: true,
      reply: z.looseObject({}),
      errors: modelErrors,
      handle: (request) => forward(request, "/embeddings", noServer),
    }),
  ];
}

async function noServer({ name }: { name: string }): Promise<never> {
  throw invalidRequest(
    "model",
    `The model '${name}' is code of this server's config: it answers only /v1/responses and /v1/chat/completions. Use a model of a model server.`,
    "unsupported_endpoint",
  );
}
