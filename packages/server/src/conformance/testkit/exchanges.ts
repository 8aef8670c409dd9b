// Every answer that a client gets, written down on its way, and what is wrong with it. No client test has to ask
// for it: what any client sees is held against the public schema and the contract of streams.

import { framesOf } from "./frames.ts";
import { flawsOf, type PublicType } from "./public-schema.ts";
import { streamFlaws } from "./stream-checker.ts";

export interface Exchange {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it without ceremony.
  readonly body: any;
  status: number;
  isStream: boolean;
  text: string;
  /** Whether all of the answer has come. */
  isWhole: boolean;
}

/** Changes the body of a request before it is sent: what a client cannot be made to send. */
export type ChangeBody = (body: Record<string, unknown>) => Record<string, unknown>;

export class Exchanges {
  readonly list: Exchange[] = [];
  readonly #changeBody: ChangeBody | undefined;

  constructor(changeBody?: ChangeBody) {
    this.#changeBody = changeBody;
  }

  /** A `fetch` for clients. It gives the body on piece by piece, so that leaving is seen by the server. */
  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init);
    // Forms are not written down.
    if (request.headers.get("content-type")?.startsWith("multipart/")) return fetch(request);
    const given = await request.clone().text();
    const body = given === "" ? undefined : JSON.parse(given);
    const sent = this.#changeBody && body ? this.#changeBody(body) : body;
    const exchange: Exchange = {
      method: request.method,
      path: new URL(request.url).pathname,
      body: sent,
      status: 0,
      isStream: false,
      text: "",
      isWhole: false,
    };
    this.list.push(exchange);
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      signal: request.signal,
      ...(sent && { body: JSON.stringify(sent) }),
    });
    exchange.status = response.status;
    exchange.isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    return new Response(response.body?.pipeThrough(writingDown(exchange)) ?? null, response);
  };

  /** What was sent to `POST /v1/responses`, in order. */
  get created(): Exchange[] {
    return this.list.filter(({ method, path }) => method === "POST" && path === "/v1/responses");
  }

  /** The response objects that have come, each in its last state. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it without ceremony.
  get responses(): any[] {
    return this.created.map(({ isStream, text }) => {
      if (!isStream) return JSON.parse(text);
      const frames = framesOf(text, { isCut: true });
      return frames.map(({ data }) => (data as { response?: unknown }).response).findLast(Boolean);
    });
  }

  /** What is wrong with all that has come. */
  flaws(): string[] {
    return this.list.flatMap((exchange, index) =>
      exchangeFlaws(exchange).map((flaw) => `${index}. ${exchange.method} ${exchange.path}: ${flaw}`),
    );
  }
}

function writingDown(exchange: Exchange): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(chunk, controller) {
      exchange.text += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
    flush() {
      exchange.isWhole = true;
    },
  });
}

const chatPath = "/v1/chat/completions";

function exchangeFlaws({ method, path, status, isStream, text, isWhole }: Exchange): string[] {
  if (isStream && path === chatPath) {
    const frames = text.split("\n\n").slice(0, -1);
    const chunks = frames.filter((frame) => frame !== "data: [DONE]" && !frame.startsWith(":"));
    return chunks.flatMap((chunk) =>
      flawsOf("ChatCompletionChunk", JSON.parse(chunk.slice("data: ".length))),
    );
  }
  if (isStream) {
    // Clients may stop reading at the terminal event: the frames that came are looked at, and the end if it came.
    const frames = framesOf(text, { isCut: !isWhole });
    const events = frames.filter(({ event }) => event !== undefined);
    return [
      ...streamFlaws(frames, { isCut: !isWhole }),
      ...events.flatMap(({ event, data }) =>
        flawsOf("ResponseStreamEvent", data).map((flaw) => `${event}: ${flaw}`),
      ),
    ];
  }
  // The client has left, or was left, before an answer.
  if (!isWhole) return [];
  // Their types are those of resources, which the tests of these routes check by the client.
  if (status < 400 && /^\/v1\/(?:containers|files)\b/.test(path)) return [];
  const value: unknown = JSON.parse(text);
  if (status >= 400) return flawsOf("ErrorObject", (value as { error?: unknown }).error ?? null);
  if (path.endsWith("/input_items")) return flawsOf("ResponseItemList", value);
  if (path.endsWith("/input_tokens")) return flawsOf("InputTokenCountResponse", value);
  if (path === chatPath) return flawsOf("ChatCompletion", value);
  if (path.startsWith("/v1/conversations")) return flawsOf(conversationType(method, path), value);
  if (path === "/v1/models") return listFlaws("Model", value);
  if (method === "GET" && path === "/v1/responses") return listFlaws("Response", value);
  // What a deletion answers is declared nowhere.
  return method === "DELETE" ? [] : flawsOf("Response", value);
}

function conversationType(method: string, path: string): PublicType {
  const [, , , , items, item] = path.split("/");
  if (items === undefined) return method === "DELETE" ? "ConversationDeletedResource" : "Conversation";
  if (item === undefined) return "ConversationItemList";
  return method === "DELETE" ? "Conversation" : "ConversationItem";
}

function listFlaws(type: PublicType, list: unknown): string[] {
  return (list as { data: unknown[] }).data.flatMap((value) => flawsOf(type, value));
}
