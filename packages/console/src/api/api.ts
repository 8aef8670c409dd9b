// Requests to the server that this page came from. Nothing here ever asks another origin.

import { connectionLost } from "./connection.ts";
import { key, keyRefused } from "./key.ts";
import { noteDate } from "./server-clock.ts";
import { readEvents, type ServerEvent } from "./sse.ts";

/** A reply that is an error, or no reply at all. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** 0 if the server could not be reached. */
  readonly status: number;
  readonly code: string | undefined;

  constructor(message: string, status: number, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Default: only those that every request has. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Sent instead of the kept key, to try it: if it is refused, the kept one stays. */
  key?: string | undefined;
}

/** `path` is relative, such as `v1/runs`: the console may be served below a prefix. */
export async function get<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await send("GET", path, undefined, options)).json() as Promise<T>;
}

export async function post<T>(path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
  return (await send("POST", path, body, options)).json() as Promise<T>;
}

export async function remove<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await send("DELETE", path, undefined, options)).json() as Promise<T>;
}

/** Events come together so often at most: to wake up for each token is what costs a browser the most. */
const collectMs = 50;

/** The events of a streamed reply. Leaving the iteration closes the connection. */
export async function* stream(
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): AsyncGenerator<ServerEvent, void, void> {
  const leaving = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, leaving.signal]) : leaving.signal;
  try {
    const headers = { ...options.headers, "rondo-collect-events-ms": `${collectMs}` };
    const reply = await send(method, path, body, { ...options, headers, signal });
    if (reply.body) yield* readEvents(reply.body);
  } catch (error) {
    if (!signal.aborted && !(error instanceof ApiError)) throw unreachable();
    throw error;
  } finally {
    leaving.abort();
  }
}

/** A text for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function send(
  method: string,
  path: string,
  body: unknown,
  { signal, headers: given, key: triedKey }: RequestOptions,
): Promise<Response> {
  const headers = new Headers({ accept: "application/json", ...given });
  if (body !== undefined) headers.set("content-type", "application/json");
  const usedKey = triedKey ?? key.peek();
  if (usedKey !== null) headers.set("authorization", `Bearer ${usedKey}`);
  let reply: Response;
  const sentAtMs = Date.now();
  try {
    reply = await fetch(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  noteDate(reply.headers.get("date"), sentAtMs, Date.now());
  if (reply.ok) return reply;
  if (reply.status === 401 && triedKey === undefined) keyRefused();
  throw await toError(reply);
}

function unreachable(): ApiError {
  connectionLost();
  return new ApiError("The server does not answer. This page tries again until it does.", 0);
}

async function toError(reply: Response): Promise<ApiError> {
  const body = (await reply.json().catch(() => undefined)) as
    | { error?: { message?: string; code?: string } }
    | undefined;
  const { message = `The server answered with the status ${reply.status}.`, code } = body?.error ?? {};
  return new ApiError(message, reply.status, code);
}
