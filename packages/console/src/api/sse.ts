// Reads a stream of server-sent events.

import { createParser } from "eventsource-parser";

export interface ServerEvent {
  readonly type: string;
  readonly sequence_number?: number;
  readonly [field: string]: unknown;
}

/** The events, each parsed from its JSON. `[DONE]` and what is not JSON are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, void> {
  const waiting: ServerEvent[] = [];
  const parser = createParser({
    onEvent({ data }) {
      const event = parse(data);
      if (event) waiting.push(event);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* waiting.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parse(data: string): ServerEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null && "type" in value
      ? (value as ServerEvent)
      : undefined;
  } catch {
    return undefined;
  }
}
