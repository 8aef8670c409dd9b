// A `fetch` for URLs of clients: checks the address of each connection, and does not follow redirects. The global
// `fetch` has no hook for addresses.

import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { Readable } from "node:stream";
import { RefusedUrlError, type UrlGuard } from "./url-guard.ts";

export interface GuardedFetch {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Closes idle connections. */
  close(): void;
}

/** Has its own connections, so that no unchecked one is reused. */
export function guardedFetch(guard: UrlGuard): GuardedFetch {
  const agents = {
    "http:": new HttpAgent({ keepAlive: true }),
    "https:": new HttpsAgent({ keepAlive: true }),
  };
  return {
    async fetch(input, init = {}) {
      const request = new Request(input instanceof Request ? input : new URL(input), init);
      const url = new URL(request.url);
      guard.check(url);
      const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
      const incoming = await send(url, request, body, agents, guard);
      const { statusCode: status = 0 } = incoming;
      if (status >= 300 && status < 400 && status !== 304) {
        incoming.destroy();
        throw new RefusedUrlError(
          `'${url.hostname}' answers with a redirect, which is not followed. Give the URL that it leads to`,
        );
      }
      return toResponse(incoming, status);
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function send(
  url: URL,
  { method, headers, signal }: Request,
  body: Buffer | undefined,
  agents: { readonly "http:": HttpAgent; readonly "https:": HttpsAgent },
  guard: UrlGuard,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isSecure = url.protocol === "https:";
  const options = {
    method,
    headers: {
      ...Object.fromEntries(headers),
      ...(body && { "content-length": String(body.byteLength) }),
    },
    agent: agents[isSecure ? "https:" : "http:"],
    lookup: guard.lookupFor(url),
    signal,
  };
  const outgoing = isSecure ? requestHttps(url, options) : requestHttp(url, options);
  outgoing.on("response", resolve);
  outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : failedToFetch(error)));
  outgoing.end(body);
  return promise;
}

/** As the global `fetch` does: the reason is the cause. */
function failedToFetch(cause: Error): Error {
  return new TypeError("fetch failed", { cause });
}

const bodyless = new Set([101, 103, 204, 205, 304]);

function toResponse(incoming: IncomingMessage, status: number): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const init = { status, statusText: incoming.statusMessage ?? "", headers };
  if (bodyless.has(status)) {
    incoming.resume();
    return new Response(null, init);
  }
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, init);
}
