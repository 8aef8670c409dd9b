// Sends a model server's answer on as it comes: nothing is read, and nothing is kept.

import type { ChatForwarder } from "rondo";
import { toApiError } from "../../engine/failure.ts";
import type { Exchange } from "../exchange.ts";
import type { StreamOptions } from "../stream.ts";

export interface PassThroughOptions {
  readonly forwarder: ChatForwarder;
  /** The body as JSON text. */
  readonly body: string;
  /** Whether it asks for a stream. */
  readonly stream: boolean;
}

/** Throws an `ApiError` as long as the answer has not begun; one that breaks off later is cut for the client too. */
export async function passThrough(
  exchange: Exchange,
  { metrics, logger }: Pick<StreamOptions, "metrics" | "logger">,
  { forwarder, body, stream }: PassThroughOptions,
): Promise<void> {
  const { outgoing, headers, signal } = exchange;
  // A client that goes away between two looks at it makes the next write fail; the signal tells us anyway.
  outgoing.on("error", () => {});
  metrics.streamOpened();
  try {
    await forwarder.forward({
      body,
      isWhole: !stream,
      signal,
      onHead: ({ status, contentType = "application/json" }) => {
        outgoing.writeHead(status, {
          ...headers,
          "content-type": contentType,
          "cache-control": "no-cache",
          // Without it, nginx keeps events back.
          "x-accel-buffering": "no",
        });
      },
      onBytes: (bytes) => (outgoing.write(bytes) ? undefined : roomIn(exchange)),
    });
    outgoing.end();
  } catch (error) {
    if (signal.aborted) throw error;
    if (!outgoing.headersSent) throw toApiError(error);
    logger.warn("The answer of a model server broke off.", { requestId: exchange.id, error: String(error) });
    outgoing.destroy();
  } finally {
    metrics.streamClosed();
  }
}

/** Resolves when the client has taken what was written, or has gone. */
function roomIn({ outgoing }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
