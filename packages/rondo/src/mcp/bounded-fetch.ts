// A `fetch` that limits the size of a message: of a whole body, or of each event of a stream.

import type { FetchFunction } from "../model/http/send-by.ts";

/** Fails the body of a reply, while it is read, when a message is too large, and calls `onTooLarge`. */
export function boundedFetch(
  fetch: FetchFunction,
  maxMessageBytes: number,
  onTooLarge: (error: Error) => void,
): FetchFunction {
  return async (...request) => {
    const response = await fetch(...request);
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(limit(maxMessageBytes, isStream, onTooLarge));
    const bounded = new Response(body, { status, statusText, headers });
    Object.defineProperty(bounded, "url", { value: response.url });
    return bounded;
  };
}

function limit(
  maxBytes: number,
  isStream: boolean,
  onTooLarge: (error: Error) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let wasLineEnd = false;
  return new TransformStream({
    transform(chunk, controller) {
      if (!isStream) bytes += chunk.length;
      else
        for (let start = 0; start < chunk.length; ) {
          // An empty line ends an event.
          const end = chunk.indexOf(10, start);
          const isEmptyLine = end >= 0 && wasLineEnd && end - start <= 1;
          bytes = isEmptyLine ? 0 : bytes + (end < 0 ? chunk.length : end + 1) - start;
          wasLineEnd = end >= 0;
          start = end < 0 ? chunk.length : end + 1;
        }
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      const error = new Error(`it sent a message of more than ${maxBytes} bytes (maxMessageBytes)`);
      controller.error(error);
      onTooLarge(error);
    },
  });
}
