// Answers a request with the events of a run.

import type { EventSink } from "../engine/event-sink.ts";
import { toApiError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { sseWriter } from "./sse.ts";

export interface StreamOptions {
  keepAliveMs: number;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Lets `run` send its events. What it throws before the first one is thrown on, and can be answered as an error;
 * what it throws later becomes an `error` event. `firstSequence` is the number of the first event.
 */
export async function replyWithStream(
  exchange: Exchange,
  { keepAliveMs, logger, metrics }: StreamOptions,
  run: (sink: EventSink, signal: AbortSignal) => Promise<void>,
  firstSequence = 0,
): Promise<void> {
  const { outgoing, headers, signal } = exchange;
  const writer = sseWriter(outgoing, { keepAliveMs, headers });
  metrics.streamOpened();
  try {
    await run(writer, signal);
    // A run that goes on elsewhere is not done: the client may come back for the rest.
    if (exchange.isFollowing && signal.aborted) writer.cut();
    else writer.end();
  } catch (error) {
    if (!writer.isStarted) throw error;
    if (!outgoing.destroyed) {
      const { message, type, code, param } = toApiError(error, exchange, logger);
      const facts = { code: code ?? type, message, param };
      const sequence_number = firstSequence + writer.count;
      writer.send(
        "error",
        JSON.stringify({ type: "error", ...facts, error: { type, ...facts }, sequence_number }),
      );
      writer.end();
    }
  } finally {
    metrics.streamClosed();
  }
}
