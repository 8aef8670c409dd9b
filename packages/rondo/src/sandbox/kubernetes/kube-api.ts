// The few requests of the tier to the API server of a cluster. The peer @kubernetes/client-node finds the cluster and
// the credentials, and opens the connections of exec.

import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";

/** An object of any kind, as far as the tier looks at it. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface KubeList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly KubeObject[];
}

/** The API server refused a request. */
export class KubeApiError extends Error {
  override readonly name = "KubeApiError";
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, reason: string, message: string, retryAfterMs: number | undefined) {
    super(`The API server answered ${status} ${reason}: ${message.slice(0, 500)}`);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

const requestMs = 30_000;
const maxReplyBytes = 64 * 1024 * 1024;
const maxTries = 5;
const maxWaitMs = 10_000;

export class KubeApi {
  readonly #config: KubeConfig;

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  get(path: string, query?: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<KubeObject> {
    return this.#request({ method: "GET", path, query, signal });
  }

  /** Undefined if there is none. */
  async find(path: string, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return orUndefined(404, this.get(path, undefined, signal));
  }

  /** All objects of a collection. */
  async list(path: string, labelSelector: string, signal?: AbortSignal): Promise<KubeObject[]> {
    const items: KubeObject[] = [];
    let next = "";
    do {
      const query = { labelSelector, limit: "500", ...(next !== "" && { continue: next }) };
      const page = (await this.get(path, query, signal)) as unknown as KubeList;
      items.push(...page.items);
      next = page.metadata?.continue ?? "";
    } while (next !== "");
    return items;
  }

  /** Undefined if one of that name exists. */
  async create(path: string, body: object, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return orUndefined(409, this.#request({ method: "POST", path, body, signal }));
  }

  patch(path: string, body: object, signal?: AbortSignal): Promise<KubeObject> {
    return this.#request({ method: "PATCH", path, body, signal });
  }

  /** Undefined if there was none. */
  async remove(path: string, body: object, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return orUndefined(404, this.#request({ method: "DELETE", path, body, signal }));
  }

  /**
   * Waits until an object is as wanted: `isDone` gets it after each change, undefined while there is none. It watches,
   * and begins anew where a watch breaks off or its version is too old.
   */
  async until<T>(
    collection: string,
    name: string,
    isDone: (object: KubeObject | undefined) => T | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const list = (await this.get(
        collection,
        { fieldSelector: `metadata.name=${name}` },
        signal,
      )) as unknown as KubeList;
      const done = isDone(list.items[0]);
      if (done !== undefined) return done;
      const query = {
        fieldSelector: `metadata.name=${name}`,
        watch: "true",
        timeoutSeconds: "60",
        ...(list.metadata?.resourceVersion && { resourceVersion: list.metadata.resourceVersion }),
      };
      try {
        for await (const { type, object } of this.#watch(collection, query, signal)) {
          if (type === "ERROR") break;
          const found = isDone(type === "DELETED" ? undefined : object);
          if (found !== undefined) return found;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof KubeApiError && ![410, 429].includes(error.status) && error.status < 500)
          throw error;
      }
      await wait(100, undefined, { signal });
    }
  }

  async *#watch(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly type: string; readonly object: KubeObject }> {
    const reply = await this.#send({
      method: "GET",
      path,
      query,
      signal: AbortSignal.any([signal, AbortSignal.timeout(90_000)]),
    });
    let rest = "";
    for await (const chunk of reply.setEncoding("utf8") as AsyncIterable<string>) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > maxReplyBytes) throw new Error("The API server sent a line that is too long.");
      for (const line of lines)
        if (line !== "") yield JSON.parse(line) as { type: string; object: KubeObject };
    }
  }

  /** Tries again where the server asks for it, or where nothing can have happened. */
  async #request(request: ApiRequest): Promise<KubeObject> {
    for (let tries = 1; ; tries += 1) {
      request.signal?.throwIfAborted();
      try {
        const signals = [AbortSignal.timeout(requestMs), ...(request.signal ? [request.signal] : [])];
        return await readJson(await this.#send({ ...request, signal: AbortSignal.any(signals) }));
      } catch (error) {
        request.signal?.throwIfAborted();
        if (tries >= maxTries || !isPassing(error, request.method)) throw error;
        const askedMs = error instanceof KubeApiError ? error.retryAfterMs : undefined;
        await wait(Math.min(askedMs ?? 50 * 2 ** tries, maxWaitMs), undefined, { signal: request.signal });
      }
    }
  }

  async #send({ method, path, query = {}, body, signal }: ApiRequest): Promise<IncomingMessage> {
    const server = this.#config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error("The kubeconfig has no current cluster.");
    const url = new URL(`${server.replace(/\/$/, "")}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const options: RequestOptions = { method, headers: {} };
    await this.#config.applyToHTTPSOptions(options);
    options.headers = {
      ...(options.headers as Record<string, string>),
      accept: "application/json",
      ...(content && {
        "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
        "content-length": content.length,
      }),
    };
    if (signal) options.signal = signal;
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === "https:" ? httpsRequest : httpRequest;
      send(url, options, resolve).on("error", reject).end(content);
    });
    if ((reply.statusCode ?? 500) < 300) return reply;
    const { statusCode = 500, headers } = reply;
    const status = (await readJson(reply).catch(() => ({}))) as { reason?: string; message?: string };
    const seconds = Number(headers["retry-after"]);
    throw new KubeApiError(
      statusCode,
      status.reason ?? "",
      status.message ?? "",
      Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined,
    );
  }
}

async function readJson(reply: IncomingMessage): Promise<KubeObject> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxReplyBytes) throw new Error(`The API server sent more than ${maxReplyBytes} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as KubeObject;
}

/** Creating twice is safe: names are given, and the second finds the first. */
function isPassing(error: unknown, _method: string): boolean {
  if (error instanceof KubeApiError) return error.status === 429 || error.status >= 500;
  return error instanceof Error && error.name !== "SyntaxError";
}

async function orUndefined(status: number, promise: Promise<KubeObject>): Promise<KubeObject | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof KubeApiError && error.status === status) return undefined;
    throw error;
  }
}
