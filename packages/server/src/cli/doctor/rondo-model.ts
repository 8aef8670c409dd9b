// A model behind a Rondo server, asked through the Responses API. Nothing is stored on the server.

import { commonProfile, type JsonObject, type Message, type ModelDelta, type ModelProvider } from "rondo";
import type { OutputItem } from "../../protocol/items.ts";
import { createApiClient } from "../api-client.ts";
import { refusal } from "../api-client-error.ts";

/** `base` ends in `/v1`. */
export function rondoModel(base: string, apiKey: string | undefined, name: string): ModelProvider {
  return {
    name,
    endpoint: base,
    profile: commonProfile,
    async *stream({ messages, tools = [], settings, signal }) {
      const body: JsonObject = {
        model: name,
        store: false,
        max_output_tokens: settings?.maxTokens ?? null,
        input: messages.flatMap(toItems),
        tools: tools.map(({ function: it }) => ({ type: "function", ...it })) as JsonObject[],
      };
      if (settings?.extraBody?.["stream"] === false)
        for (const item of await create(base, apiKey, body, signal)) yield* deltasOf(item, true);
      else
        for await (const event of createApiClient({ baseUrl: base, apiKey }).create(body, signal)) {
          if (event.type === "error") throw new Error(event.message);
          if ("response" in event && event.response.error) throw new Error(event.response.error.message);
          if (event.type === "response.output_text.delta") yield { type: "text.delta", text: event.delta };
          if (event.type === "response.reasoning_text.delta")
            yield { type: "thinking.delta", text: event.delta };
          if (event.type === "response.output_item.done") yield* deltasOf(event.item, false);
        }
      yield { type: "finished", finishReason: "unknown", usage: undefined };
    },
  };
}

/** The output of a response that is not streamed. */
async function create(
  base: string,
  apiKey: string | undefined,
  body: JsonObject,
  signal: AbortSignal | undefined,
): Promise<readonly OutputItem[]> {
  const headers = new Headers({ "content-type": "application/json" });
  if (apiKey !== undefined) headers.set("authorization", `Bearer ${apiKey}`);
  const init = { method: "POST", headers, body: JSON.stringify(body), signal: signal ?? null };
  const reply = await fetch(`${base}/responses`, init);
  if (!reply.ok) throw await refusal(base, reply);
  type Body = { output?: OutputItem[]; error?: { message: string } | null };
  const { output = [], error } = (await reply.json()) as Body;
  if (error) throw new Error(error.message);
  return output;
}

/** What an item says; of a streamed one only its call, as its text came before. */
function* deltasOf(item: OutputItem, withText: boolean): Generator<ModelDelta> {
  if (item.type === "function_call") {
    const { call_id: id, name, arguments: text } = item;
    yield { type: "call.ended", id, name, arguments: text, isTruncated: false };
  }
  if (!withText || (item.type !== "message" && item.type !== "reasoning")) return;
  const type = item.type === "message" ? "text.delta" : "thinking.delta";
  for (const part of item.content ?? []) if ("text" in part) yield { type, text: part.text };
}

function toItems(message: Message): JsonObject[] {
  if (message.role === "tool")
    return [{ type: "function_call_output", call_id: message.tool_call_id, output: message.content }];
  const items: JsonObject[] = [];
  if (typeof message.content === "string" && message.content !== "")
    items.push({ type: "message", role: message.role, content: message.content });
  if (message.role === "assistant")
    for (const { id, function: it } of message.tool_calls ?? [])
      items.push({ type: "function_call", call_id: id, ...it });
  return items;
}
