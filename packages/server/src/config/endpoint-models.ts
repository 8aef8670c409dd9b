// Which models an endpoint has, asked at most once in a while.

import { listModels } from "rondo";
import type { EndpointConfig } from "./model-schema.ts";

export interface EndpointModelsOptions {
  readonly config: EndpointConfig;
  readonly timeoutMs: number;
  readonly maxAgeMs: number;
  readonly now: () => number;
  readonly onWarning: (message: string) => void;
}

// One that is down may be back soon.
const retryMs = 5000;

export class EndpointModels {
  readonly #options: EndpointModelsOptions;
  #answer: Promise<string[] | undefined> | undefined;
  #askAgainAt = 0;
  /** What it said last, however long ago: a server that is down still has its models. */
  #lastKnown: readonly string[] = [];

  constructor(options: EndpointModelsOptions) {
    this.#options = options;
  }

  get lastKnown(): readonly string[] {
    return this.#lastKnown;
  }

  /** The names of its models; undefined if it does not answer. */
  names(): Promise<string[] | undefined> {
    const { now, maxAgeMs } = this.#options;
    if (this.#answer === undefined || now() >= this.#askAgainAt) {
      this.#askAgainAt = now() + maxAgeMs;
      this.#answer = this.#ask(now());
    }
    return this.#answer;
  }

  async #ask(startedAt: number): Promise<string[] | undefined> {
    const { config, timeoutMs, onWarning } = this.#options;
    const { url, apiKey, headers } = config;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const names = await listModels({ baseURL: url, apiKey, headers, signal });
      this.#lastKnown = names;
      return names;
    } catch (error) {
      this.#askAgainAt = Math.min(this.#askAgainAt, startedAt + retryMs);
      const reason = error instanceof Error ? error.message : String(error);
      onWarning(`The models of ${labelOf(url)} are left out: ${reason}`);
      return undefined;
    }
  }
}

/** An address without what may be secret in it. */
export function labelOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}
