// A model's answer in the format of the chat-completions API: as chunks, or as one object.

import type { JsonObject, Usage } from "rondo";
import type { FinishReason, ModelDelta } from "rondo/models";
import { newId } from "./ids.ts";

interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Turns the deltas of one answer into chunks, and collects them into the whole answer. */
export class ChatAnswer {
  readonly #head: { id: string; created: number; model: string };
  #text = "";
  #thinking = "";
  #calls: ChatCall[] = [];
  #finish: FinishReason = "unknown";
  #usage: Usage | undefined;

  constructor({ model, createdAtMs }: { model: string; createdAtMs: number }) {
    this.#head = { id: newId("chatcmpl"), created: Math.floor(createdAtMs / 1000), model };
  }

  /** The first chunk of a stream. */
  start(): JsonObject {
    return this.#chunk({ role: "assistant", content: "" });
  }

  /** The chunk of a delta, if it has one. A call is one chunk, sent when it is complete. */
  accept(delta: ModelDelta): JsonObject | undefined {
    switch (delta.type) {
      case "text.delta":
        this.#text += delta.text;
        return this.#chunk({ content: delta.text });
      case "thinking.delta":
        this.#thinking += delta.text;
        return this.#chunk({ reasoning_content: delta.text });
      case "call.ended": {
        const { id, name, arguments: text } = delta;
        this.#calls.push({ id, name, arguments: text });
        return this.#chunk({ tool_calls: [{ index: this.#calls.length - 1, ...toWire(delta) }] });
      }
      case "finished":
        this.#finish = delta.finishReason;
        this.#usage = delta.usage;
        return this.#chunk({}, this.#finishReason);
      default:
        return undefined;
    }
  }

  /** The chunk with the token counts. */
  usageChunk(): JsonObject {
    return { ...this.#chunkHead, choices: [], usage: toWireUsage(this.#usage) };
  }

  /** The whole answer as one object. */
  whole(): JsonObject {
    const message = {
      role: "assistant",
      content: this.#text === "" && this.#calls.length > 0 ? null : this.#text,
      refusal: null,
      ...(this.#thinking !== "" && { reasoning_content: this.#thinking }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls.map(toWire) }),
    };
    return {
      ...this.#head,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: this.#finishReason }],
      usage: toWireUsage(this.#usage),
    };
  }

  get #chunkHead(): JsonObject {
    return { ...this.#head, object: "chat.completion.chunk" };
  }

  get #finishReason(): string {
    if (this.#finish !== "unknown") return this.#finish;
    return this.#calls.length > 0 ? "tool_calls" : "stop";
  }

  #chunk(delta: JsonObject, finishReason: string | null = null): JsonObject {
    return {
      ...this.#chunkHead,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    };
  }
}

function toWire({ id, name, arguments: text }: ChatCall): JsonObject {
  return { id, type: "function", function: { name, arguments: text } };
}

/** Zeros where the model reports none: clients add them up. */
function toWireUsage(usage: Usage | undefined): JsonObject {
  return {
    prompt_tokens: usage?.inputTokens ?? 0,
    completion_tokens: usage?.outputTokens ?? 0,
    total_tokens: usage?.totalTokens ?? 0,
    ...(usage?.cachedTokens !== undefined && {
      prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    }),
    ...(usage?.reasoningTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    }),
  };
}
