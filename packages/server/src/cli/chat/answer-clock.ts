// How long an answer took, and how fast the model wrote it.

import type { ChatEvent } from "./chat-partner.ts";

/** Below this a rate says more about the clock than about the model. */
const minRateMs = 100;

export class AnswerClock {
  readonly #now: () => number;
  readonly #startedAt: number;
  #pieceAt: number | undefined;
  #writingMs = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Counts the time between pieces of the model, not that of tools or before its first word. */
  note({ type }: ChatEvent): void {
    const now = this.#now();
    if (type === "text" || type === "thinking" || type === "call.delta" || type === "call") {
      if (this.#pieceAt !== undefined) this.#writingMs += now - this.#pieceAt;
      this.#pieceAt = now;
    } else if (type === "result") this.#pieceAt = undefined;
  }

  get elapsedMs(): number {
    return this.#now() - this.#startedAt;
  }

  /** Tokens a second; undefined if that cannot be told. */
  rate(outputTokens: number): number | undefined {
    return this.#writingMs < minRateMs || outputTokens === 0
      ? undefined
      : outputTokens / (this.#writingMs / 1000);
  }
}
