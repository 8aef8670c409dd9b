// Replies to a request with a stream of events.

import type { ApiError } from "../protocol/api-error.ts";
import { isStoreError } from "../store/store-error.ts";
import { toApiError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { SseWriter } from "./sse.ts";

export interface StreamOptions {
  keepAliveMs: number;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Lets `run` send events. What it throws before the first one is thrown on, and becomes an error reply; what it throws
 * later is sent by `sendError`. Default: an `error` event of the Responses API.
 */
export async function replyWithStream(
  exchange: Exchange,
  { keepAliveMs, logger, metrics }: StreamOptions,
  run: (writer: SseWriter, signal: AbortSignal) => Promise<void>,
  sendError: (writer: SseWriter, error: ApiError) => void = sendErrorEvent,
): Promise<void> {
  const { outgoing, headers, signal } = exchange;
  const writer = new SseWriter(outgoing, { keepAliveMs, headers, collectMs: collectMsOf(exchange) });
  metrics.streamOpened();
  try {
    await run(writer, signal);
    // A background run goes on elsewhere: the client may come back for the rest.
    if (exchange.isFollowing && signal.aborted) writer.cut();
    else writer.end();
  } catch (error) {
    if (!writer.isStarted) throw error;
    if (outgoing.destroyed) return;
    // The run goes on, but this process cannot read it: the client has to come back, to any process.
    if (exchange.isFollowing && isStoreError(error, "unavailable")) {
      logger.warn("A follower was disconnected, because the store cannot be read.", {
        reason: error.message,
      });
      writer.cut();
      return;
    }
    sendError(writer, toApiError(error, exchange, logger));
    writer.end();
  } finally {
    metrics.streamClosed();
  }
}

const collectHeader = "rondo-collect-events-ms";
const maxCollectMs = 1_000;

/** How long the client wants events to be collected; 0 if it does not say so. */
function collectMsOf({ incoming }: Exchange): number {
  const given = incoming.headers[collectHeader];
  if (typeof given !== "string" || !/^\d{1,9}$/.test(given)) return 0;
  return Math.min(Number(given), maxCollectMs);
}

/** `firstSequence` is the number of the first event of the stream. */
export function sendErrorEvent(writer: SseWriter, problem: ApiError, firstSequence = 0): void {
  const { message, type, code, param } = problem;
  const facts = { code: code ?? type, message, param };
  const sequence_number = firstSequence + writer.count;
  writer.send(
    "error",
    JSON.stringify({ type: "error", ...facts, error: { type, ...facts }, sequence_number }),
  );
}
