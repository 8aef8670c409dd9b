// Security headers of every reply, also of those that Node writes itself: browsers must not sniff their type, nor load
// them into foreign pages. Origins in `cors.origins` are not affected: CORS covers what they fetch.

import { type IncomingMessage, ServerResponse } from "node:http";

const headers: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** The same as lines, for replies that are written by hand. */
export const headerLines: readonly string[] = Object.entries(headers).map(
  ([name, value]) => `${name}: ${value}`,
);

/** A reply with these headers. */
export class GuardedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  constructor(...parameters: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...parameters);
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
  }
}
