// What the commands ask of a Rondo server beyond its models: stored responses, as JSON and as streams of events.

import { EventSourceParserStream } from "eventsource-parser/stream";
import type { JsonObject } from "rondo";
import type { StreamEvent } from "../protocol/events.ts";
import type { InputItem } from "../protocol/items.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { ApiClientError, brokenStream, refusal, unexpected, unreachable } from "./api-client-error.ts";

export interface ApiClientOptions {
  /** Where the server is, with or without `/v1`. */
  baseUrl: string;
  /** Default: none is sent. */
  apiKey?: string | undefined;
}

/** A page of a list, as the API has it. */
export interface ApiList<T> {
  data: T[];
  has_more: boolean;
}

const largestPage = 100;

export type ApiClient = ReturnType<typeof createApiClient>;

/** Makes a client. Throws an `ApiClientError` if `baseUrl` is not an http or https URL. Nothing is asked yet. */
export function createApiClient({ baseUrl, apiKey }: ApiClientOptions) {
  const label = toBaseUrl(baseUrl);

  const ask = async (path: string, { body, ...init }: RequestInit = {}): Promise<Response> => {
    const headers = {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(body && { "content-type": "application/json" }),
    };
    const request = { ...init, headers, redirect: "manual" as const, body: body ?? null };
    const reply = await fetch(`${label}${path}`, request).catch((error: unknown) => {
      throw init.signal?.aborted ? init.signal.reason : unreachable(label, error);
    });
    if (reply.ok) return reply;
    throw await refusal(label, reply);
  };

  const json = async <T>(path: string, init: RequestInit): Promise<T> => {
    const text = await (await ask(path, init)).text();
    try {
      return JSON.parse(text) as T;
    } catch {
      throw unexpected(label, text);
    }
  };

  const events = async function* (path: string, init: RequestInit): AsyncGenerator<StreamEvent, void, void> {
    const reply = await ask(path, init);
    const isStream = reply.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (!isStream || !reply.body) throw unexpected(label, await reply.text());
    const frames = reply.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
      .pipeThrough(new EventSourceParserStream());
    try {
      for await (const { data } of frames) {
        if (data === "[DONE]") return;
        yield JSON.parse(data) as StreamEvent;
      }
    } catch (error) {
      throw init.signal?.aborted ? init.signal.reason : brokenStream(label, error);
    }
    throw brokenStream(label);
  };

  const at = (id: string) => `/responses/${encodeURIComponent(id)}`;
  return {
    /** The base URL, with `/v1` and without what may be secret in it. */
    label,
    /** Makes a response. Its events, as they come; leaving the loop closes the connection. */
    create: (body: JsonObject, signal: AbortSignal | null = null) =>
      events("/responses", { signal, method: "POST", body: JSON.stringify({ ...body, stream: true }) }),
    /** The events of a background response after `startingAfter` (-1 for all), then those that come. */
    follow: (id: string, startingAfter: number, signal: AbortSignal | null = null) =>
      events(`${at(id)}?stream=true${startingAfter < 0 ? "" : `&starting_after=${startingAfter}`}`, {
        signal,
      }),
    get: (id: string, signal: AbortSignal | null = null) => json<ResponseObject>(at(id), { signal }),
    /** What the response was asked: its first items, the oldest first. */
    input: (id: string, signal: AbortSignal) =>
      json<ApiList<InputItem>>(`${at(id)}/input_items?order=asc&limit=100`, { signal }),
    /** Up to `limit` responses, the newest first. `query` has the other parameters of the API, such as `status`. */
    async list(limit: number, query: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
      const all: ResponseObject[] = [];
      for (let hasMore = true; hasMore && all.length < limit; ) {
        const size = String(Math.min(limit - all.length, largestPage));
        const after = all.at(-1)?.id;
        const page = new URLSearchParams({ ...query, limit: size, ...(after !== undefined && { after }) });
        const { data, has_more } = await json<ApiList<ResponseObject>>(`/responses?${page.toString()}`, {
          signal: signal ?? null,
        });
        all.push(...data);
        hasMore = has_more && data.length > 0;
      }
      return all;
    },
    cancel: (id: string, signal: AbortSignal | null = null) =>
      json<ResponseObject>(`${at(id)}/cancel`, { signal, method: "POST" }),
  };
}

/** The base URL of a server's API: with `/v1`, and without what may be secret in it. */
export function toBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ApiClientError(
      `Expected the http or https URL of a Rondo server, such as http://127.0.0.1:4500, got ${JSON.stringify(text)}.`,
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/(\/v1)?$/, "/v1")}`;
}
