// A small client of a Rondo server for the commands: JSON, streams of events, and errors in words.

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
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export interface ApiClient {
  /** With `/v1`, and without what may be secret in it. */
  readonly label: string;
  /** Makes a response. Its events, as they come; leaving the loop closes the connection. */
  create(body: JsonObject, signal?: AbortSignal): AsyncGenerator<StreamEvent, void, void>;
  /** The events of a background response after `startingAfter` (-1 for all), then those that come. */
  follow(id: string, startingAfter: number, signal?: AbortSignal): AsyncGenerator<StreamEvent, void, void>;
  get(id: string, signal?: AbortSignal): Promise<ResponseObject>;
  /** What the response was asked: its first items, the oldest first. */
  input(id: string, signal?: AbortSignal): Promise<ApiList<InputItem>>;
  /** `query` has the parameters of the API: `limit`, `after`, `order`… */
  list(query?: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<ApiList<ResponseObject>>;
  cancel(id: string, signal?: AbortSignal): Promise<ResponseObject>;
  /** The names of the models that the server has. */
  models(signal?: AbortSignal): Promise<string[]>;
}

/** Makes a client. Throws an `ApiClientError` if `baseUrl` is no http or https URL. Nothing is asked yet. */
export function createApiClient({ baseUrl, apiKey }: ApiClientOptions): ApiClient {
  const base = readBaseUrl(baseUrl);
  const label = `${base.origin}${base.pathname}`;

  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (apiKey !== undefined) headers.set("authorization", `Bearer ${apiKey}`);
    const response = await fetch(`${label}${path}`, { ...init, headers, redirect: "manual" }).catch(
      (error: unknown) => {
        throw init.signal?.aborted ? init.signal.reason : unreachable(label, error);
      },
    );
    if (response.ok) return response;
    throw await refusal(label, response);
  };

  const json = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const response = await ask(path, init);
    const text = await response.text();
    try {
      return JSON.parse(text) as T;
    } catch {
      throw unexpected(label, text);
    }
  };

  const events = async function* (path: string, init: RequestInit): AsyncGenerator<StreamEvent, void, void> {
    const response = await ask(path, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (!isStream || !response.body) throw unexpected(label, await response.text());
    const frames = response.body
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
    throw brokenStream(label, undefined);
  };

  const at = (id: string) => `/responses/${encodeURIComponent(id)}`;
  const given = (signal: AbortSignal | undefined): RequestInit => (signal ? { signal } : {});
  return {
    label,
    create: (body, signal) =>
      events("/responses", {
        ...given(signal),
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, stream: true }),
      }),
    follow: (id, startingAfter, signal) =>
      events(
        `${at(id)}?stream=true${startingAfter < 0 ? "" : `&starting_after=${startingAfter}`}`,
        given(signal),
      ),
    get: (id, signal) => json(at(id), given(signal)),
    input: (id, signal) => json(`${at(id)}/input_items?order=asc&limit=100`, given(signal)),
    list: (query = {}, signal) => json(`/responses?${new URLSearchParams(query).toString()}`, given(signal)),
    cancel: (id, signal) => json(`${at(id)}/cancel`, { ...given(signal), method: "POST" }),
    async models(signal) {
      const { data } = await json<{ data: { id: string }[] }>("/models", given(signal));
      if (!Array.isArray(data)) throw unexpected(label, JSON.stringify(data));
      return data.map(({ id }) => id);
    },
  };
}

function readBaseUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ApiClientError(
      `Expected the http or https URL of a Rondo server, such as http://127.0.0.1:4500, got ${JSON.stringify(text)}.`,
    );
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/v1") ? path : `${path}/v1`;
  return url;
}
