// Questions about what a model server is. A failure is an answer too: nothing is known then.

import type { Endpoint } from "../endpoint.ts";
import { type HttpSend, readText } from "../http/http.ts";
import { parseJson } from "../parse-json.ts";

/** Beyond this a reply is not about a server any more. Lists of hosted models have some 1 MB. */
const maxReplyBytes = 8 * 1024 * 1024;

export interface ProbeReply {
  readonly status: number;
  /** The header `Server`. */
  readonly header: string | undefined;
  /** Undefined if the body is not JSON. */
  readonly body: unknown;
}

/** Asks a resource of the API (`/models`), or of the server's own API (`own`). */
export type Probe = (
  path: string,
  options?: { own?: true; body?: unknown },
) => Promise<ProbeReply | undefined>;

/** Asks until `signal` is aborted. Never rejects. */
export function probeOf(endpoint: Endpoint, send: HttpSend, signal: AbortSignal): Probe {
  return async (path, { own, body } = {}) => {
    try {
      const response = await send({
        method: body === undefined ? "GET" : "POST",
        url: own ? endpoint.ownUrl(path) : endpoint.url(path),
        headers: {
          accept: "application/json",
          ...(body !== undefined && { "content-type": "application/json" }),
          ...endpoint.headers,
        },
        body: body === undefined ? undefined : [JSON.stringify(body)],
        signal,
      });
      const text = await readText(response, maxReplyBytes);
      return { status: response.status, header: response.header("server"), body: parseJson(text) };
    } catch {
      return undefined;
    }
  };
}
