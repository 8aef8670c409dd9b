// Replies to a chat request from a model without a server: the answer of its provider, in the format of the API.

import type { ModelProvider, Tracer } from "rondo";
import type { ModelDelta } from "rondo/models";
import { toApiError } from "../../engine/failure.ts";
import { ChatAnswer } from "../../protocol/chat-answer.ts";
import { parseChatRequest } from "../../protocol/chat-request.ts";
import { errorBody } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { replyWithStream, type StreamOptions } from "../stream.ts";
import { ChatSpan } from "./chat-span.ts";

export interface ProviderReplyOptions {
  /** The model's name, as the client knows it. */
  readonly name: string;
  readonly provider: ModelProvider;
  readonly body: unknown;
  readonly stream: boolean;
  /** Receives trace events. Default: none. */
  readonly tracer?: Tracer | undefined;
}

/** Throws an `ApiError` as long as the reply has not begun. */
export async function replyFromProvider(
  exchange: Exchange,
  options: StreamOptions,
  { name, provider, body, stream, tracer }: ProviderReplyOptions,
): Promise<void> {
  const { request, includesUsage } = parseChatRequest(body);
  const answer = new ChatAnswer({ model: name, createdAtMs: Date.now() });
  const { signal } = exchange;
  const span = tracer && new ChatSpan(tracer, { model: name, endpoint: name, body });
  /** The deltas of the answer. A failure of the model is an `ApiError`. */
  async function* deltas() {
    try {
      const asked = { ...request, wholeAnswer: !stream, signal, ...(tracer && { tracer }) };
      for await (const delta of provider.stream(asked)) {
        if (delta.type === "finished") span?.finished(answerOf(delta));
        else span?.started();
        yield delta;
      }
    } catch (error) {
      if (!signal.aborted) span?.failed(error);
      throw signal.aborted ? error : toApiError(error, exchange.owner);
    } finally {
      span?.failed(); // unless it is over
    }
  }
  if (!stream) {
    for await (const delta of deltas()) answer.accept(delta);
    exchange.json(200, answer.whole());
    return;
  }
  await replyWithStream(
    exchange,
    options,
    async (writer) => {
      const send = (chunk: object) => writer.send("", JSON.stringify(chunk));
      for await (const delta of deltas()) {
        if (writer.count === 0) send(answer.start());
        const chunk = answer.accept(delta);
        if (chunk) send(chunk);
        await writer.drained;
      }
      if (includesUsage) send(answer.usageChunk());
    },
    // As model servers do it: the clients of this API expect it.
    (writer, error) => writer.send("", JSON.stringify(errorBody(error))),
  );
}

function answerOf({ finishReason, usage }: Extract<ModelDelta, { type: "finished" }>) {
  return { finishReason, ...(usage && { usage }) };
}
