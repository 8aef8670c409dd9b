// POST /v1/chat/completions: passed through to the model's server, so that one base URL serves every client. A
// model that is code answers through its provider.

import type { Models } from "../../config/models.ts";
import { parseChatFrame } from "../../protocol/chat-request.ts";
import { readJsonText } from "../body.ts";
import { ownerOf, type Route } from "../route.ts";
import type { StreamOptions } from "../stream.ts";
import { answerByProvider } from "./by-provider.ts";
import { passThrough } from "./pass-through.ts";

export interface ChatRoutesOptions extends StreamOptions {
  models: Pick<Models, "resolve">;
  /** The largest body that is read. */
  bodyBytes: number;
}

export function chatRoutes(options: ChatRoutesOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      async handle(exchange) {
        ownerOf(exchange);
        const { text, value } = await readJsonText(exchange.incoming, options.bodyBytes);
        const { model: wanted, stream } = parseChatFrame(value);
        const { name, provider, forwarder } = await options.models.resolve(wanted);
        exchange.model = name;
        if (forwarder === undefined) {
          await answerByProvider(exchange, options, { name, provider, body: value, stream });
          return;
        }
        // As it came, to the last digit, unless the model has another name where it lives.
        const isSame = wanted === forwarder.model;
        const body = isSame ? text : JSON.stringify({ ...Object(value), model: forwarder.model });
        await passThrough(exchange, options, { forwarder, body, stream });
      },
    },
  ];
}
