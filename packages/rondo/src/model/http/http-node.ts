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
  readonly request: (url: URL, options: object) => ClientRequest;
  /** Pools connections by host and port. Node's global agent belongs to the user. */
  readonly agent: Agent;
}

const transports = new Map<string, Transport>();

/** Sends a request. Pooled connections that turn out to be dead are replaced. */
export const send: HttpSend = async (request) => {
  const transport = transportFor(request.url.protocol === "https:" ? "node:https" : "node:http");
  while (true) {
    try {
      return await exchange(request, transport);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
    }
  }
};

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

/** The server had closed a pooled connection before it saw the request. */
class StaleConnection extends Error {}

function exchange(
  { method, url, headers, body, signal }: HttpRequest,
  { request, agent }: Transport,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const outgoing = request(url, { method, headers, agent });
    const onAbort = () => {
      release();
      outgoing.destroy();
      reject(signal.reason);
    };
    const release = () => signal.removeEventListener("abort", onAbort);
    signal.addEventListener("abort", onAbort);
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      release();
      const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isStale ? new StaleConnection("", { cause: error }) : error);
    });
    outgoing.on("response", (incoming) => resolve(new NodeResponse(incoming, signal, release)));
    outgoing.end(body);
  });
}

class NodeResponse implements HttpResponse {
  readonly status: number;
  readonly #incoming: IncomingMessage;
  readonly #signal: AbortSignal;
  readonly #release: () => void;
  #source: Readable;
  #isPaused = false;

  constructor(incoming: IncomingMessage, signal: AbortSignal, release: () => void) {
    this.status = incoming.statusCode ?? 0;
    this.#incoming = incoming;
    this.#source = incoming;
    this.#signal = signal;
    this.#release = release;
    // An error before `read()` listens must not crash the process. `read()` checks for it.
    incoming.on("error", () => {});
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  async read(take: TakeBytes): Promise<void> {
    const incoming = this.#incoming;
    try {
      this.#source = decoded(incoming);
      await this.#pushTo(take);
    } catch (error) {
      incoming.destroy();
      this.#source.destroy(); // a decompressor would continue with its buffer
      throw error;
    } finally {
      this.#release();
    }
    if (!incoming.readableEnded) drain(incoming, this.#source);
  }

  pause(): void {
    this.#isPaused = true; // backpressure: data stays in the stream, and soon at the server
  }

  resume(): void {
    this.#isPaused = false;
    this.#source.emit("readable");
  }

  #pushTo(take: TakeBytes): Promise<void> {
    const source = this.#source;
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      const stop = () => {
        source.off("readable", onReadable).off("end", onEnd).off("error", onError).off("close", onClose);
        signal.removeEventListener("abort", onAbort);
      };
      // Not `data`, which fires for each chunk that the server wrote: several may have arrived together.
      const onReadable = () => {
        try {
          while (!this.#isPaused) {
            const bytes = source.read() as Uint8Array | null;
            if (bytes === null) return;
            if (take(bytes)) return onEnd();
          }
        } catch (error) {
          fail(error);
        }
      };
      const onEnd = () => {
        stop();
        resolve();
      };
      const fail = (error: unknown) => {
        stop();
        reject(error);
      };
      const onError = (error: unknown) => {
        this.resume(); // delivers what came before the error
        fail(error);
      };
      const onClose = () => onError(source.errored ?? new Error("The connection was closed too early."));
      const onAbort = () => fail(signal.reason);
      source.on("readable", onReadable).on("end", onEnd).on("error", onError).on("close", onClose);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else if (source.destroyed) onClose();
    });
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

/** Drains the rest of a body within limits, so that its connection can be reused. */
function drain(incoming: IncomingMessage, source: Readable): void {
  let left = maxDrainBytes;
  source.on("data", (bytes: Uint8Array) => {
    left -= bytes.length;
    if (left >= 0) return;
    incoming.destroy();
    source.destroy();
  });
  const timer = setTimeout(() => incoming.destroy(), drainMs).unref();
  incoming.once("close", () => clearTimeout(timer));
  source.resume(); // an unread decompressor would block the body
}
