// Rejects requests of web pages that the config does not allow. Any page that a user visits can send requests to a
// server on the same machine and, with a host name that resolves to 127.0.0.1, could even read the replies.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { ApiError } from "../protocol/api-error.ts";

export interface BrowserGuardOptions {
  /** Origins that may call from a browser; `*` for all. Default: none. */
  origins?: readonly string[];
  /** Whether the server listens on loopback only and requires no key. */
  isOpenOnLoopback: boolean;
}

export interface BrowserGuard {
  /** Throws a 403 for a request of a foreign web page. */
  check(incoming: IncomingMessage): void;
  /** Adds the CORS headers of every reply. */
  addHeaders(incoming: IncomingMessage, headers: Record<string, string>): void;
  /** The headers of the reply to a preflight request. */
  preflight(incoming: IncomingMessage): Record<string, string>;
}

export function browserGuard({ origins = [], isOpenOnLoopback }: BrowserGuardOptions): BrowserGuard {
  const isForAll = origins.includes("*");
  const isAllowed = (origin: string) => isForAll || origins.includes(origin);
  return {
    check({ headers }) {
      if (!isOpenOnLoopback) return;
      const { host, origin } = headers;
      if (host === undefined || !isLoopbackHost(host)) throw foreignHost(host);
      if (origin !== undefined && !isAllowed(origin) && !isSameOrigin(origin, host))
        throw foreignOrigin(origin);
    },
    addHeaders({ headers: { origin } }, headers) {
      if (origins.length === 0) return;
      if (!isForAll) headers["vary"] = "Origin";
      if (origin === undefined || !isAllowed(origin)) return;
      headers["access-control-allow-origin"] = isForAll ? "*" : origin;
      headers["access-control-expose-headers"] = "x-request-id, retry-after";
    },
    preflight({ headers: asked }) {
      if (asked.origin === undefined || !isAllowed(asked.origin)) return {};
      const headers: Record<string, string> = {
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers":
          header(asked, "access-control-request-headers") ?? "authorization, content-type, idempotency-key",
        "access-control-max-age": "600",
      };
      if (header(asked, "access-control-request-private-network") === "true")
        headers["access-control-allow-private-network"] = "true";
      return headers;
    },
  };
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host);
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

function foreignHost(host: string | undefined): ApiError {
  return forbidden(
    `This server requires no key, so it only serves localhost, 127.0.0.1 and [::1]; the request is for the host ${JSON.stringify(host ?? "")}. Use one of these names, or set \`auth\` in the server's config.`,
  );
}

function foreignOrigin(origin: string): ApiError {
  return forbidden(
    `The web page ${JSON.stringify(origin)} may not call this server. To allow it, add it to \`cors.origins\` in the server's config.`,
  );
}

function forbidden(message: string): ApiError {
  return new ApiError(message, { status: 403, code: "forbidden_origin" });
}
