// The body of POST /v1/chat/completions. It is forwarded to a model server as it is, so only the model's name is read
// here; for a model without a server it becomes a request of the library.

import type { ContentPart, Message, ToolCall } from "rondo";
import type { ModelRequest } from "rondo/models";
import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { modelName } from "./create-request-schema.ts";
import { parseField } from "./field-error.ts";
import { checkMessageUrls, checkUrls, defaultUrlRules, type UrlRules } from "./input-urls.ts";
import { checkSize } from "./json-size.ts";

const part = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(part)]);

const toolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer"]), content }),
  z.looseObject({ role: z.literal("user"), content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: content.nullish(),
    tool_calls: z.array(toolCall).nullish(),
    reasoning_content: z.string().nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string(), content }),
]);

const tool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: z.looseObject({}).nullish(),
  }),
});

const responseFormat = z.discriminatedUnion("type", [
  z.looseObject({ type: z.enum(["text", "json_object"]) }),
  z.looseObject({
    type: z.literal("json_schema"),
    json_schema: z.looseObject({ name: z.string(), schema: z.looseObject({}) }),
  }),
]);

/** The fields that decide where a request goes. */
const frame = z.looseObject({ model: modelName.nullish(), stream: z.boolean().nullish() });

export const chatRequestSchema = frame.extend({
  messages: z.array(message).min(1),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
    ])
    .nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  n: z.literal(1, { error: "1, as this model gives one answer at a time" }).nullish(),
  response_format: responseFormat.nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});

const tokens = z.array(z.int());
const texts = z.union([z.string(), z.array(z.union([z.string(), tokens])), tokens]);

/** The body of POST /v1/completions. The model server checks it. */
export const completionRequestSchema = frame.extend({ prompt: texts.nullish() });

/** The body of POST /v1/embeddings. The model server checks it. */
export const embeddingRequestSchema = frame.omit({ stream: true }).extend({ input: texts });

export interface ChatFrame {
  readonly model: string | undefined;
  /** Default: false. */
  readonly stream: boolean;
}

export interface ChatRequest {
  readonly request: Omit<ModelRequest, "signal">;
  /** Whether a stream ends with the token counts. */
  readonly includesUsage: boolean;
}

/** More than any list of a chat request needs. */
const maxEntries = 100_000;

/** Reads where a request goes, and checks its size and URLs. Throws an `ApiError` (400). */
export function parseChatFrame(body: unknown, urls: UrlRules = defaultUrlRules): ChatFrame {
  checkSize(body, maxEntries);
  const data = parseField(frame, body);
  const { tools: _schemas, ...rest } = data;
  checkUrls(rest, urls);
  checkMessageUrls(rest["messages"], urls);
  return { model: data.model ?? undefined, stream: data.stream ?? false };
}

/** Reads the whole request. Throws an `ApiError` (400). */
export function parseChatRequest(body: unknown): ChatRequest {
  const data = parseField(chatRequestSchema, body);
  const tools = (data.tools ?? []).map(({ function: given }) => ({
    type: "function" as const,
    function: {
      name: given.name,
      description: given.description ?? "",
      parameters: given.parameters ?? { type: "object", properties: {} },
    },
  }));
  const { tool_choice: choice, response_format: format, stop, temperature, top_p: topP, seed } = data;
  const maxTokens = data.max_completion_tokens ?? data.max_tokens;
  const toolChoice = typeof choice === "object" ? choice && { name: choice.function.name } : choice;
  if (
    typeof toolChoice === "object" &&
    toolChoice &&
    !tools.some((it) => it.function.name === toolChoice.name)
  )
    throw invalidRequest("tool_choice", `tool_choice: there is no tool '${toolChoice.name}' in tools.`);
  return {
    request: {
      messages: data.messages.map(toMessage),
      ...(tools.length > 0 && { tools }),
      ...(tools.length > 0 && toolChoice && { toolChoice }),
      ...(format?.type === "json_schema" && {
        output: { name: format.json_schema.name, schema: format.json_schema.schema },
      }),
      settings: {
        ...(isGiven(temperature) && { temperature }),
        ...(isGiven(topP) && { topP }),
        ...(isGiven(maxTokens) && { maxTokens }),
        ...(isGiven(seed) && { seed }),
        ...(isGiven(stop) && { stop: typeof stop === "string" ? [stop] : stop }),
      },
    },
    includesUsage: data.stream_options?.include_usage ?? false,
  };
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

function toMessage(given: z.infer<typeof message>): Message {
  switch (given.role) {
    case "user":
      return { role: "user", content: userContent(given.content) };
    case "tool":
      return { role: "tool", tool_call_id: given.tool_call_id, content: textOf(given.content) };
    case "assistant": {
      const { reasoning_content: reasoning, tool_calls: calls } = given;
      return {
        role: "assistant",
        content: textOf(given.content ?? ""),
        ...(calls && calls.length > 0 && { tool_calls: calls.map(toCall) }),
        ...(reasoning && { reasoning }),
      };
    }
    default:
      return { role: "system", content: textOf(given.content) };
  }
}

function toCall({ id, function: called }: z.infer<typeof toolCall>): ToolCall {
  return { id, type: "function", function: { name: called.name, arguments: called.arguments } };
}

function textOf(given: z.infer<typeof content>): string {
  if (typeof given === "string") return given;
  return given.map((each) => (typeof each["text"] === "string" ? each["text"] : "")).join("");
}

/** Parts that models here cannot read, such as audio, are left out. */
function userContent(given: z.infer<typeof content>): string | ContentPart[] {
  if (typeof given === "string") return given;
  return given.flatMap((each): ContentPart[] => {
    if (each.type === "text") return [{ type: "text", text: textOf([each]) }];
    const { url } = Object(each["image_url"]) as { url?: unknown };
    return each.type === "image_url" && typeof url === "string"
      ? [{ type: "image_url", image_url: { url } }]
      : [];
  });
}
