// HTTP by any `fetch`: the runtime's, or one that the user passes.

import { untilAborted } from "../../async/until-aborted.ts";
import { type Resolvers, withResolvers } from "../../async/with-resolvers.ts";
import type { HttpRequest, HttpResponse, HttpSend, TakeBytes } from "./http.ts";

/** The part of `fetch` that is used, so that wrappers and fakes need no more. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** Sends requests by a given `fetch`. Even if it ignores its signal, an abort takes effect at once. */
export function sendBy(fetch: FetchFunction): HttpSend {
  return async ({ method, url, headers, body, signal }) => {
    signal.throwIfAborted();
    const answer = fetch(url.href, {
      method,
      headers: { ...headers },
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body: body.join("") }),
    });
    const response = await untilAborted(answer, signal).catch((error: unknown) => {
      // Should the answer come after the abort, nobody reads it.
      answer.then((late) => late.body?.cancel()).catch(() => {});
      throw error;
    });
    return new FetchResponse(response, signal);
  };
}

class FetchResponse implements HttpResponse {
  readonly status: number;
  readonly isComplete = false;
  readonly #response: Response;
  readonly #signal: AbortSignal;
  #paused: Resolvers<void> | undefined;

  constructor(response: Response, signal: HttpRequest["signal"]) {
    // A browser hides redirects behind the status 0.
    this.status = response.type === "opaqueredirect" ? 302 : response.status;
    this.#response = response;
    this.#signal = signal;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  async read(take: TakeBytes): Promise<void> {
    const reader = this.#response.body?.getReader();
    if (!reader) return;
    const { promise: aborted, reject } = withResolvers<never>();
    aborted.catch(() => {}); // raced below, but perhaps not awaited yet
    const onAbort = () => {
      reject(this.#signal.reason);
      this.#paused?.resolve();
      cancel();
    };
    const cancel = () => void reader.cancel().catch(() => {});
    this.#signal.addEventListener("abort", onAbort);
    if (this.#signal.aborted) onAbort();
    try {
      await Promise.race([this.#pump(reader, take), aborted]);
    } finally {
      this.#signal.removeEventListener("abort", onAbort);
      cancel();
    }
  }

  pause(): void {
    this.#paused ??= withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  async #pump(reader: ReadableStreamDefaultReader<Uint8Array>, take: TakeBytes): Promise<void> {
    while (!this.#signal.aborted) {
      if (this.#paused) await this.#paused.promise;
      const { done, value } = await reader.read();
      if (this.#signal.aborted) break;
      if (done || take(value)) return;
    }
    throw this.#signal.reason;
  }
}
