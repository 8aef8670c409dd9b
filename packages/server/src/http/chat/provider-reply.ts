// Answers a chat request by a model that has no server: what its provider says, in the words of the API.

import type { ModelProvider } from "rondo";
import { toApiError } from "../../engine/failure.ts";
import { ChatAnswer } from "../../protocol/chat-answer.ts";
import { parseChatRequest } from "../../protocol/chat-request.ts";
import { errorBody } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { sseWriter } from "../sse.ts";
import type { StreamOptions } from "../stream.ts";

export interface ProviderReplyOptions {
  /** The model's name, as the client knows it. */
  readonly name: string;
  readonly provider: ModelProvider;
  readonly body: unknown;
  readonly stream: boolean;
}

/** Throws an `ApiError` as long as the answer has not begun. */
export async function replyFromProvider(
  exchange: Exchange,
  options: StreamOptions,
  { name, provider, body, stream }: ProviderReplyOptions,
): Promise<void> {
  const { request, includesUsage } = parseChatRequest(body);
  const answer = new ChatAnswer({ model: name, createdAtMs: Date.now() });
  const { signal } = exchange;
  const deltas = provider.stream({ ...request, wholeAnswer: !stream, signal });
  try {
    if (stream) await streamDeltas(exchange, options, { answer, deltas, includesUsage });
    else {
      for await (const delta of deltas) answer.accept(delta);
      exchange.json(200, answer.whole());
    }
  } catch (error) {
    throw signal.aborted ? error : toApiError(error);
  }
}

interface Streamed {
  readonly answer: ChatAnswer;
  readonly deltas: ReturnType<ModelProvider["stream"]>;
  readonly includesUsage: boolean;
}

async function streamDeltas(
  { outgoing, headers, signal }: Exchange,
  { keepAliveMs, metrics }: StreamOptions,
  { answer, deltas, includesUsage }: Streamed,
): Promise<void> {
  const writer = sseWriter(outgoing, { keepAliveMs, headers });
  const send = (chunk: object) => writer.send("", JSON.stringify(chunk));
  metrics.streamOpened();
  try {
    let isFirst = true;
    for await (const delta of deltas) {
      if (isFirst) send(answer.start());
      isFirst = false;
      const chunk = answer.accept(delta);
      if (chunk) send(chunk);
      await writer.drained;
    }
    if (includesUsage) send(answer.usageChunk());
    writer.end();
  } catch (error) {
    if (signal.aborted || !writer.isStarted) throw error;
    // As model servers do it: the clients of this API look for it.
    send(errorBody(toApiError(error)));
    writer.end();
  } finally {
    metrics.streamClosed();
  }
}
