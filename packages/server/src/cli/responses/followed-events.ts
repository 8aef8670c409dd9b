// The events of a background response to its end, across lost connections and server restarts.

import { setTimeout as sleep } from "node:timers/promises";
import type { StreamEvent } from "../../protocol/events.ts";
import { isTerminal } from "../../protocol/status.ts";
import type { ApiClient } from "../api-client.ts";
import { ApiClientError } from "../api-client-error.ts";

export interface RetryTimes {
  /** The first delay; each is twice the one before. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** How long a server may be unreachable. */
  readonly giveUpMs: number;
}

export const usualRetries: RetryTimes = { firstMs: 250, longestMs: 5000, giveUpMs: 300_000 };

export interface FollowedOptions {
  readonly api: ApiClient;
  /** The id of an existing response. */
  readonly id: string;
  /** The number of the last event to skip; -1 for none. */
  readonly startingAfter: number;
  readonly signal: AbortSignal;
  readonly retries: RetryTimes;
  /** Called when the connection is lost, and when it is back. */
  readonly onConnection: (state: "lost" | "back") => void;
}

/** Each event once, in order, until the response ends. Throws an error for the user. */
export async function* followedEvents(options: FollowedOptions): AsyncGenerator<StreamEvent, void, void> {
  const { api, id, signal, retries, onConnection } = options;
  let last = options.startingAfter;
  let lostAt: number | undefined;
  let waitMs = retries.firstMs;
  const isBack = () => {
    if (lostAt !== undefined) onConnection("back");
    lostAt = undefined;
    waitMs = retries.firstMs;
  };
  while (true) {
    let lost: ApiClientError | undefined;
    try {
      for await (const event of api.follow(id, last, signal)) {
        isBack();
        if (event.type === "keepalive") continue;
        last = event.sequence_number;
        yield event;
        if (isEnd(event)) return;
      }
      // The stream ended without a final event: either all were skipped, or the server stopped.
      const { status } = await api.get(id, signal);
      isBack();
      if (isTerminal(status)) return;
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      lost = error;
    }
    if (lost) {
      if (lostAt === undefined) onConnection("lost");
      lostAt ??= performance.now();
      if (performance.now() - lostAt + waitMs > retries.giveUpMs) throw lost;
    }
    await sleep(waitMs, undefined, { signal });
    waitMs = Math.min(waitMs * 2, retries.longestMs);
  }
}

function isEnd({ type }: StreamEvent): boolean {
  return (
    type === "response.completed" ||
    type === "response.incomplete" ||
    type === "response.failed" ||
    type === "error"
  );
}

/** An unreachable, starting or overloaded server is retried; a refusal is final. */
function mayPass(error: unknown): error is ApiClientError {
  if (!(error instanceof ApiClientError)) return false;
  return error.isConnectionFault || error.status === 429 || (error.status ?? 0) >= 500;
}
