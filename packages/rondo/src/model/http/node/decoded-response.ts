// A reply whose body is compressed. Compression is not requested, but some proxies compress anyway.

import type { Transform } from "node:stream";
import type { HttpResponse, TakeBytes } from "../http.ts";

interface Packed extends HttpResponse {
  /** The rest of the body is not needed. */
  leave(): void;
}

/** The same reply with the content of its body. `signal` ends the reading, also of bytes that have come. */
export function decoded(packed: Packed, encoding: string, signal: AbortSignal): HttpResponse {
  return new DecodedResponse(packed, encoding, signal);
}

class DecodedResponse implements HttpResponse {
  readonly isComplete = false;
  readonly #packed: Packed;
  readonly #encoding: string;
  readonly #signal: AbortSignal;
  #decoder: Transform | undefined;
  #isPaused = false;

  constructor(packed: Packed, encoding: string, signal: AbortSignal) {
    this.#packed = packed;
    this.#encoding = encoding;
    this.#signal = signal;
  }

  get status(): number {
    return this.#packed.status;
  }

  header(name: string): string | undefined {
    return this.#packed.header(name);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#decoder?.emit("readable");
  }

  read(take: TakeBytes): Promise<void> {
    const decoder = createDecoder(this.#encoding);
    if (!decoder) {
      // Not quoted: a server may repeat the key that it was sent.
      this.#packed.leave();
      return Promise.reject(new Error("The answer has an unknown compression."));
    }
    this.#decoder = decoder;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        this.#signal.removeEventListener("abort", onAbort);
        settle();
        this.#packed.leave();
        decoder.destroy();
      };
      const fail = (error: unknown) => end(() => reject(error));
      const onAbort = () => fail(this.#signal.reason);
      this.#signal.addEventListener("abort", onAbort);
      if (this.#signal.aborted) onAbort();
      const takeAll = () => {
        try {
          for (;;) {
            const bytes = isOver || this.#isPaused ? null : (decoder.read() as Uint8Array | null);
            if (bytes === null) return;
            if (take(bytes)) end(resolve);
          }
        } catch (error) {
          fail(error);
        }
      };
      decoder.on("readable", takeAll).on("end", () => end(resolve));
      decoder.on("error", fail);
      this.#packed
        .read((bytes) => {
          if (!decoder.write(new Uint8Array(bytes))) {
            this.#packed.pause();
            decoder.once("drain", () => this.#packed.resume());
          }
          return false;
        })
        .then(
          () => decoder.end(),
          (error: unknown) => {
            this.#isPaused = false;
            takeAll(); // what came before the error
            fail(error);
          },
        );
    });
  }
}

/** Undefined for an encoding that this Node does not know: older ones have no zstd. */
function createDecoder(encoding: string): Transform | undefined {
  const { createBrotliDecompress, createUnzip, createZstdDecompress } = process.getBuiltinModule("node:zlib");
  const decoders: Readonly<Record<string, (() => Transform) | undefined>> = {
    gzip: createUnzip,
    "x-gzip": createUnzip,
    deflate: createUnzip,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
  };
  return Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
}
