// Security headers of every reply, also of those that Node writes itself: browsers must not sniff their type, nor load
// them into foreign pages. Origins in `cors.origins` are not affected: CORS covers what they fetch.

import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from "node:http";
import { ServerResponse } from "./node-http.ts";

const headers: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** The same as lines, for replies that are written by hand. */
export const headerLines: readonly string[] = Object.entries(headers).map(
  ([name, value]) => `${name}: ${value}`,
);

type GivenHeaders = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A reply with these headers. */
export class GuardedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Node calls it too, for a head that nobody wrote. Headers that are set one by one cost more than all at once. */
  override writeHead(status: number, reason?: string | GivenHeaders, given?: GivenHeaders): this {
    const own = typeof reason === "object" ? reason : given;
    const all = Array.isArray(own) ? [...Object.entries(headers).flat(), ...own] : { ...headers, ...own };
    return typeof reason === "string" ? super.writeHead(status, reason, all) : super.writeHead(status, all);
  }
}
