// POST /v1/chat/completions: passed through to the model's server, so that one base URL serves every client. A
// model that is code answers through its provider.

import type { Models } from "../../config/models.ts";
import { parseChatFrame } from "../../protocol/chat-request.ts";
import type { UrlRules } from "../../protocol/input-urls.ts";
import { readJsonText } from "../body.ts";
import { ownerOf, type Route } from "../route.ts";
import type { StreamOptions } from "../stream.ts";
import { answerByProvider } from "./by-provider.ts";
import { passThrough } from "./pass-through.ts";

export interface ChatRoutesOptions extends StreamOptions {
  models: Pick<Models, "resolve">;
  /** The largest body that is read. */
  bodyBytes: number;
  /** Which URLs a request may have. Default: those of public hosts. */
  urls?: UrlRules;
}

/**
 * Text in which a URL may hide from our parser though not from another: of a key that comes twice, we see the last.
 * Letters of keys may be escaped.
 */
const mayHideUrl = /_url|(?:https?|file|ftp):|\\u00[2-7]/i;

export function chatRoutes(options: ChatRoutesOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/chat/completions",
      async handle(exchange) {
        ownerOf(exchange);
        const { text, value } = await readJsonText(exchange.incoming, options.bodyBytes);
        const { model: wanted, stream } = parseChatFrame(value, options.urls);
        const { name, provider, forwarder } = await options.models.resolve(wanted);
        exchange.model = name;
        if (forwarder === undefined) {
          await answerByProvider(exchange, options, { name, provider, body: value, stream });
          return;
        }
        // As it came, to the last digit, unless the model has another name where it lives, or it may not be as we read it.
        const isSame = wanted === forwarder.model && !mayHideUrl.test(text);
        const body = isSame ? text : JSON.stringify({ ...Object(value), model: forwarder.model });
        await passThrough(exchange, options, { forwarder, body, stream });
      },
    },
  ];
}
