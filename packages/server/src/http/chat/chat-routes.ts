// POST /v1/chat/completions: passed through to the model's server, so that one base URL serves every client. A model
// without a server replies through its provider.

import { z } from "zod";
import type { Models } from "../../config/models.ts";
import { chatRequestSchema, parseChatFrame } from "../../protocol/chat-request.ts";
import type { UrlRules } from "../../protocol/input-urls.ts";
import { modelErrors, type Route, route } from "../route.ts";
import type { StreamOptions } from "../stream.ts";
import { passThrough } from "./pass-through.ts";
import { replyFromProvider } from "./provider-reply.ts";

export interface ChatRoutesOptions extends StreamOptions {
  models: Pick<Models, "resolve">;
  /** The URLs that a request may have. Default: those of public hosts. */
  urls?: UrlRules;
}

/**
 * Text in which a URL may hide from our parser but not from another one: of a duplicate key, we see the last. Letters
 * of keys may be escaped.
 */
const mayHideUrl = /_url|(?:https?|file|ftp):|\\u00[2-7]/i;

export function chatRoutes(options: ChatRoutesOptions): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/chat/completions",
      operationId: "createChatCompletion",
      summary: "Call a model by the chat-completions API. Passed through to the model's server as it is.",
      body: chatRequestSchema,
      reply: z.looseObject({}),
      events: z.looseObject({}),
      errors: modelErrors,
      async handle({ exchange, body: { text, value } }) {
        const { model: wanted, stream } = parseChatFrame(value, options.urls);
        const { name, provider, forwarder } = await options.models.resolve(wanted);
        exchange.model = name;
        if (forwarder === undefined)
          return replyFromProvider(exchange, options, { name, provider, body: value, stream });
        // As it came, to the last digit, unless the model has another name there, or another parser may read it otherwise.
        const isSame = wanted === forwarder.model && !mayHideUrl.test(text);
        const sent = isSame ? text : JSON.stringify({ ...Object(value), model: forwarder.model });
        return passThrough(exchange, options, { forwarder, body: sent, stream });
      },
    }),
  ];
}
