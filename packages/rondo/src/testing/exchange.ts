// One request to the test model server, and its answer with the faults that are asked for.

import type { IncomingMessage, ServerResponse } from "node:http";
import { isUint8Array } from "node:util/types";
import { sleep, untilAborted } from "../async/until-aborted.ts";
import { type AnswerOptions, prepareAnswer, type ServerAnswer } from "./server-answer.ts";

/** A received request. */
export interface ServerRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON, or the text if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read it without checks.
  readonly body: any;
  /** Whether the client closed the socket before the answer ended. */
  readonly wasLeft: boolean;
  /** When the exchange ended, by `performance.now()`; undefined until then. */
  readonly closedAt: number | undefined;
  /** Resolves when the exchange ended: everything was sent, or either side closed the socket. */
  readonly closed: Promise<void>;
}

export class Exchange implements ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ServerRequest["headers"];
  readonly body: unknown;
  readonly closed: Promise<void>;
  wasLeft = false;
  closedAt: number | undefined;
  readonly #response: ServerResponse;
  readonly #over = new AbortController();
  #isCutByUs = false;

  constructor(request: IncomingMessage, response: ServerResponse, body: string) {
    this.method = request.method ?? "";
    this.path = request.url ?? "";
    this.headers = request.headers;
    this.body = parse(body);
    this.#response = response;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    // Errors of writing to a closed socket are ignored: "close" reports it.
    response.on("error", () => {});
    response.once("close", () => {
      this.wasLeft = !response.writableFinished && !this.#isCutByUs;
      this.closedAt = performance.now();
      this.#over.abort();
      resolve();
    });
  }

  /** Sends an answer; returns when it is sent, or when the client disconnects. */
  async send(answer: ServerAnswer, options: AnswerOptions = {}): Promise<void> {
    const { signal } = this.#over;
    try {
      if (answer.delayMs) await sleep(answer.delayMs, signal);
      if (answer.waitFor) await untilAborted(answer.waitFor, signal);
      if (answer.hangUp) return this.#cut();
      const { status, headers, pieces, end } = await prepareAnswer(answer, options);
      signal.throwIfAborted();
      this.#response.writeHead(status, headers).flushHeaders();
      for (const piece of pieces) {
        if (!isUint8Array(piece)) {
          await untilAborted(piece, signal);
          continue;
        }
        if (answer.chunkDelayMs) await sleep(answer.chunkDelayMs, signal);
        await untilAborted(this.#write(piece), signal);
      }
      if (end === "stall") await sleep(Number.POSITIVE_INFINITY, signal);
      if (end === "drop") this.#cut();
      else this.#response.end();
    } catch (error) {
      if (error !== signal.reason) throw error;
    }
  }

  /** Reports a script error to the client, with a status below 500, so that it does not retry. */
  async fail(status: number, message: string): Promise<void> {
    if (this.#response.headersSent) this.#cut();
    else await this.send({ status, body: { error: { message } } });
  }

  /** Closes the socket, like a crashed server. */
  #cut(): void {
    this.#isCutByUs = true;
    this.#response.destroy();
  }

  #write(piece: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#response.write(piece, () => resolve());
    });
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
