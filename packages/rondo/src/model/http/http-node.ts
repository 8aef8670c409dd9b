// HTTP by Node's own client: half the work of fetch per chunk, no hidden time limit, and a socket that closes in the
// same tick as an abort.

import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { HttpRequest, HttpResponse, HttpSend, TakeBytes } from "./http.ts";

/** How long the rest of an unneeded body is drained before its connection is closed. */
const drainMs = 500;
/** How much of it is drained before the connection is closed. */
const maxDrainBytes = 1_048_576;

interface Transport {
  readonly request: (options: object) => ClientRequest;
  /** Pools connections by host and port. Node's global agent belongs to the user. */
  readonly agent: Agent;
}

/** Where a request goes, as Node wants it. */
interface Target {
  readonly transport: Transport;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
}

const transports = new Map<string, Transport>();
/** By the address: an endpoint uses the same one again. */
const targets = new WeakMap<URL, Target>();

/** Sends a request. Pooled connections that turn out to be dead are replaced. */
export const send: HttpSend = (request) => exchange(request, targetOf(request.url));

function targetOf(url: URL): Target {
  const known = targets.get(url);
  if (known) return known;
  const target = {
    transport: transportFor(url.protocol === "https:" ? "node:https" : "node:http"),
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"), // IPv6
    port: url.port,
    path: `${url.pathname}${url.search}`,
  };
  targets.set(url, target);
  return target;
}

/**
 * Loaded lazily and not by an import, which would read every export of `node:http`: one of them loads all of `fetch`,
 * which takes ten times as long as the rest.
 */
function transportFor(name: "node:http" | "node:https"): Transport {
  const loaded = transports.get(name);
  if (loaded) return loaded;
  const { Agent, request } = process.getBuiltinModule(name);
  // Keeps as many connections as were ever in use at once; the server closes idle ones.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY });
  const transport = { request, agent };
  transports.set(name, transport);
  return transport;
}

function exchange(request: HttpRequest, target: Target): Promise<HttpResponse> {
  const { method, headers, body, signal } = request;
  const { transport, hostname, port, path } = target;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const outgoing = transport.request({ method, headers, agent: transport.agent, hostname, port, path });
    let response: NodeResponse | undefined;
    const onAbort = () => {
      release();
      outgoing.destroy();
      reject(signal.reason);
      response?.stop(signal.reason);
    };
    const release = () => signal.removeEventListener("abort", onAbort);
    signal.addEventListener("abort", onAbort);
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      release();
      // The server had closed a pooled connection before it saw the request.
      const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      if (isStale && !response && !signal.aborted) resolve(exchange(request, target));
      else reject(error);
    });
    outgoing.on("response", (incoming) => {
      response = new NodeResponse(incoming, release);
      resolve(response);
    });
    outgoing.end(body);
  });
}

class NodeResponse implements HttpResponse {
  readonly status: number;
  readonly #incoming: IncomingMessage;
  readonly #release: () => void;
  #source: Readable;
  #isPaused = false;
  /** Why it was stopped before it was read. */
  #stopped: { readonly reason: unknown } | undefined;
  /** Ends the reading under way with an error. */
  #fail: ((error: unknown) => void) | undefined;

  constructor(incoming: IncomingMessage, release: () => void) {
    this.status = incoming.statusCode ?? 0;
    this.#incoming = incoming;
    this.#source = incoming;
    this.#release = release;
    // An error before `read()` listens must not crash the process. `read()` checks for it.
    incoming.on("error", () => {});
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  read(take: TakeBytes): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        this.#fail = undefined;
        this.#release();
        this.#incoming.destroy();
        this.#source.destroy(); // a decompressor would continue with its buffer
        reject(error);
      };
      this.#fail = fail;
      if (this.#stopped) fail(this.#stopped.reason);
      else this.#pushTo(take, resolve);
    });
  }

  pause(): void {
    this.#isPaused = true; // backpressure: data stays in the stream, and soon at the server
  }

  resume(): void {
    this.#isPaused = false;
    this.#source.emit("readable");
  }

  /** Stops reading, now or when it would begin. */
  stop(reason: unknown): void {
    this.#stopped = { reason };
    this.#fail?.(reason);
  }

  #pushTo(take: TakeBytes, resolve: () => void): void {
    const incoming = this.#incoming;
    try {
      this.#source = decoded(incoming);
    } catch (error) {
      this.#fail?.(error);
      return;
    }
    const source = this.#source;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let left = maxDrainBytes;
    const finish = () => {
      this.#fail = undefined;
      this.#release();
      resolve();
      // The rest is drained within limits, so that the connection can be reused.
      if (!incoming.readableEnded) timer = setTimeout(() => incoming.destroy(), drainMs).unref();
    };
    const drain = (bytes: Uint8Array) => {
      left -= bytes.length;
      if (left >= 0) return;
      incoming.destroy();
      source.destroy();
    };
    // Not `data`, which fires for each chunk that the server wrote: several may have arrived together.
    const onReadable = () => {
      try {
        while (!this.#isPaused || !this.#fail) {
          const bytes = source.read() as Uint8Array | null;
          if (bytes === null) return;
          if (!this.#fail) drain(bytes);
          else if (take(bytes)) finish();
        }
      } catch (error) {
        this.#fail?.(error);
      }
    };
    const onEnd = () => {
      if (this.#fail) finish();
    };
    const onError = (error: unknown) => {
      if (!this.#fail) return;
      this.resume(); // delivers what came before the error
      this.#fail?.(error);
    };
    const onClose = () => {
      clearTimeout(timer);
      if (this.#fail) onError(source.errored ?? new Error("The connection was closed too early."));
    };
    source.on("readable", onReadable).on("end", onEnd).on("error", onError).on("close", onClose);
    if (source.destroyed) onClose();
  }
}

/** The decompressed body. Compression is not requested, but some proxies compress anyway. */
function decoded(incoming: IncomingMessage): Readable {
  const encoding = incoming.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return incoming;
  const { createBrotliDecompress, createUnzip, createZstdDecompress } = process.getBuiltinModule("node:zlib");
  const decoders: Record<string, () => ReturnType<typeof createUnzip>> = {
    gzip: createUnzip,
    "x-gzip": createUnzip,
    deflate: createUnzip,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
  };
  const createDecoder = decoders[encoding];
  if (!createDecoder) throw new Error(`The answer has an unknown compression: ${encoding}.`);
  const decoder = createDecoder();
  const cut = () => decoder.destroy(incoming.errored ?? new Error("The connection was closed too early."));
  decoder.on("error", () => {}); // irrelevant once reading has ended
  decoder.once("close", () => incoming.off("error", cut).destroy());
  if (incoming.destroyed) cut();
  else incoming.once("error", cut).pipe(decoder);
  return decoder;
}
