// Waits for a model server that is away, instead of failing a background run: it asks again after growing delays, up to
// a limit of time. A run that waits does not keep others from working.

import { setTimeout as sleep } from "node:timers/promises";
import { BrokenStreamError, ModelConnectionError, ModelServerError } from "rondo/errors";
import { ApiError } from "../protocol/api-error.ts";

const firstDelayMs = 500;
const longestDelayMs = 15_000;

export interface ModelWaitOptions {
  /** How long a model server may be away. 0: a failure is final. */
  readonly limitMs: number;
  /** Since when it has been away, if an earlier start of the run noticed that. */
  readonly awaySinceMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Lets other runs work during a wait. */
  readonly park: (wait: () => Promise<void>) => Promise<void>;
  /** Called when a wait begins, once until the model answers again. */
  readonly onAway: (error: Error) => void;
}

export class ModelWait {
  readonly #options: ModelWaitOptions;
  #awaySinceMs: number | undefined;
  #delays = 0;

  constructor(options: ModelWaitOptions) {
    this.#options = options;
    this.#awaySinceMs = options.awaySinceMs;
  }

  /** Since when the model server has been away; undefined while it answers. */
  get awaySinceMs(): number | undefined {
    return this.#awaySinceMs;
  }

  /** Notes that the model answered. */
  isBack(): void {
    this.#awaySinceMs = undefined;
    this.#delays = 0;
  }

  /** Whether a failure is worth waiting for. */
  isWorthwhile(error: unknown): error is Error {
    const { limitMs, now, signal } = this.#options;
    if (signal.aborted || !isAway(error)) return false;
    const awayMs = this.#awaySinceMs === undefined ? 0 : now() - this.#awaySinceMs;
    return awayMs < limitMs;
  }

  /** Waits after a failure. Rejects when the run is stopped. */
  async wait(error: Error): Promise<void> {
    const { limitMs, now, park, signal, onAway } = this.#options;
    if (this.#delays === 0) onAway(error);
    this.#awaySinceMs ??= now();
    const leftMs = Math.max(0, this.#awaySinceMs + limitMs - now());
    const delayMs = Math.min(firstDelayMs * 2 ** this.#delays, longestDelayMs) * (1 - Math.random() / 4);
    this.#delays += 1;
    await park(() => sleep(Math.min(delayMs, leftMs), undefined, { signal }));
  }
}

/** Whether a failure means that no model server is there, or that it went away in the middle of its answer. */
function isAway(error: unknown): error is Error {
  if (error instanceof ModelConnectionError || error instanceof BrokenStreamError) return true;
  if (error instanceof ModelServerError) return error.isLoading || [502, 503, 504].includes(error.status);
  // No server has the model, but one of them did not answer.
  return error instanceof ApiError && error.code === "model_not_found" && error.retryAfterMs !== undefined;
}
