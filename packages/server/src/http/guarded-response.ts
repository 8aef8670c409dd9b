// Headers of every answer, also of those that Node gives by itself: browsers take answers for nothing but what they
// say that they are, and do not load them into pages from elsewhere. Pages that `cors.origins` names are not concerned:
// what they fetch is checked by CORS.

import { type IncomingMessage, ServerResponse } from "node:http";

const headers: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** The same as lines, for answers that are written as they are. */
export const headerLines: readonly string[] = Object.entries(headers).map(
  ([name, value]) => `${name}: ${value}`,
);

/** An answer that has them. */
export class GuardedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  constructor(...parameters: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...parameters);
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
  }
}
