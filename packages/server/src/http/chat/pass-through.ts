// Forwards a model server's reply as it comes, unread.

import type { ChatForwarder, ForwardRequest } from "rondo/models";
import { toApiError } from "../../engine/failure.ts";
import type { Exchange } from "../exchange.ts";
import type { StreamOptions } from "../stream.ts";
import type { ChatSpan } from "./chat-span.ts";

export interface PassThroughOptions {
  readonly forwarder: ChatForwarder;
  /** Default: that of chat completions. */
  readonly path?: ForwardRequest["path"];
  /** The body as JSON text. */
  readonly body: string;
  /** Whether it asks for a stream. */
  readonly stream: boolean;
  /** Headers that connect it to a trace. Default: none. */
  readonly traceHeaders?: ForwardRequest["traceHeaders"];
  /** Called when the reply begins, and when it ends. Default: not at all. */
  readonly span?: ChatSpan | undefined;
}

/** Throws an `ApiError` as long as the reply has not begun; one that breaks off later is cut for the client too. */
export async function passThrough(
  exchange: Exchange,
  { metrics, logger }: Pick<StreamOptions, "metrics" | "logger">,
  { forwarder, path, body, stream, traceHeaders, span }: PassThroughOptions,
): Promise<void> {
  const { outgoing, headers, signal } = exchange;
  // A write to a client that has just left fails; the signal is aborted anyway.
  outgoing.on("error", () => {});
  metrics.streamOpened();
  try {
    await forwarder.forward({
      path,
      body,
      isWhole: !stream,
      traceHeaders,
      signal,
      onHead: ({ status, contentType = "application/json" }) => {
        span?.accepted(status);
        outgoing.writeHead(status, {
          ...headers,
          "content-type": contentType,
          "cache-control": "no-cache",
          // Without it, nginx buffers events.
          "x-accel-buffering": "no",
        });
      },
      onBytes: (bytes) => {
        span?.started();
        return outgoing.write(bytes) ? undefined : drained(exchange);
      },
    });
    span?.finished();
    outgoing.end();
  } catch (error) {
    span?.failed(signal.aborted ? undefined : error);
    if (signal.aborted) throw error;
    if (!outgoing.headersSent) throw toApiError(error, exchange.owner);
    logger.warn("The reply of a model server broke off.", { requestId: exchange.id, error: String(error) });
    outgoing.destroy();
  } finally {
    metrics.streamClosed();
  }
}

/** Resolves when the client has read what was written, or is gone. */
function drained({ outgoing }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
