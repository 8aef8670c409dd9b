// A server that is sent anything, and what is wrong with what it answers.

import { Agent, request as ask, type IncomingMessage } from "node:http";
import type { ConfigInput } from "../../config/schema.ts";
import { framesOf } from "./frames.ts";
import { serverTools, start, type TestServer } from "./start.ts";

export interface WildRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface WildAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export interface WildServer {
  readonly server: TestServer;
  send(request: WildRequest): Promise<WildAnswer>;
  /** POSTs JSON. */
  post(path: string, body: unknown): Promise<WildAnswer>;
}

/** A server whose model always has something to say, and calls a tool of the server now and then. */
export async function startWild(config: ConfigInput = {}): Promise<WildServer> {
  let count = 0;
  const server = await start({
    script: () =>
      ++count % 3 === 0 ? { text: "A", calls: [{ name: "clock", input: { city: "Rome" } }] } : "Hello.",
    tools: serverTools,
    config: { maxAgenticTurns: 3, ...config },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const send = (request: WildRequest) => sendTo(server, agent, request);
  return {
    server,
    send,
    post: (path, body) =>
      send({
        method: "POST",
        path,
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

async function sendTo({ baseURL }: TestServer, agent: Agent, request: WildRequest): Promise<WildAnswer> {
  const { hostname, port } = new URL(baseURL);
  const { method, path, headers = {}, body } = request;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = ask({ agent, hostname, port, method, path, headers: { ...headers } }, resolve);
  outgoing.on("error", reject);
  outgoing.end(body);
  const incoming = await promise;
  const text = Buffer.concat((await incoming.toArray()) as Buffer[]).toString("utf8");
  return { status: incoming.statusCode ?? 0, type: incoming.headers["content-type"] ?? "", text };
}

/** What is wrong with an answer to anything: it is good, or says in the API's shape what was wrong. */
export function answerFlaw({ status, type, text }: WildAnswer, method = "POST"): string | undefined {
  if (status >= 500 || status < 200) return `status ${status}: ${text}`;
  if (method === "HEAD") return text === "" ? undefined : "a body for HEAD";
  if (type.startsWith("text/event-stream")) return streamFlaw(text);
  if (status < 400) return undefined;
  const { error } = JSON.parse(text) as { error?: Record<string, unknown> };
  const { message, type: kind, param, code, ...rest } = error ?? {};
  if (typeof message !== "string" || message === "" || message.length > 3000) return `the message: ${text}`;
  if (typeof kind !== "string" || !isTextOrNull(param) || !isTextOrNull(code)) return `the shape: ${text}`;
  if (code === "invalid_request" && param === null && !/^The (?:body|request)/.test(message))
    return `no field: ${text}`;
  return Object.keys(rest).length > 0 ? `more than the shape: ${text}` : undefined;
}

function streamFlaw(text: string): string | undefined {
  const frames = framesOf(text);
  if (frames.at(-1)?.data !== "[DONE]") return `a stream that does not end: ${text.slice(-200)}`;
  const last = frames.at(-2)?.event ?? "nothing";
  return /^response\.(?:completed|incomplete|failed)$/.test(last)
    ? undefined
    : `a stream that ends with ${last}`;
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
