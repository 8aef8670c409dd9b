// Reads the body of POST /v1/responses: liberal in what it accepts, normalised for the engine.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { addTools, toolsToOffer } from "./client-tools.ts";
import { createRequestSchema } from "./create-request-schema.ts";
import { parseField } from "./field-error.ts";
import { inputItem, toItems } from "./input-items.ts";
import { checkUrls, defaultUrlRules, type UrlRules } from "./input-urls.ts";
import type { InputItem } from "./items.ts";
import { checkSize } from "./json-size.ts";
import { toMetadata } from "./metadata.ts";
import { serviceTiers } from "./response.ts";
import { checkSchemaSizes, defaultSchemaLimits, type SchemaLimits } from "./schema-limits.ts";
import { type ReasoningOptions, type TextOptions, toReasoningOptions, toTextOptions } from "./text-format.ts";
import { echoChoice, type NamedTool, type ToolChoice, toChoice } from "./tool-choice.ts";
import { echoTools, type ToolDefinition, tool, toTools } from "./tools.ts";
import { findUnknown } from "./unknown-fields.ts";
import { isUsualFunction, isUsualItem, isUsualRequest } from "./usual-shapes.ts";

type Schema = z.infer<typeof createRequestSchema>;

/** Fields that stay undefined where the client leaves them open. */
const optionalFields = [
  "model",
  "instructions",
  "previous_response_id",
  "max_tool_calls",
  "max_output_tokens",
  "max_agentic_turns",
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
  "user",
  "safety_identifier",
  "prompt_cache_key",
] as const satisfies (keyof Schema)[];

type OptionalFields = {
  [Field in (typeof optionalFields)[number]]?: NonNullable<Schema[Field]> | undefined;
};

/** A request with its defaults filled in. */
export interface CreateRequest extends OptionalFields {
  /** A string as input is one message of the user. */
  input: InputItem[];
  conversation?: string | undefined;
  /** Default: false. */
  stream: boolean;
  /** Default: false. */
  background: boolean;
  /** Default: true. */
  store: boolean;
  /**
   * With those that items of the input bring. Namespaces are flattened, custom tools are functions; unknown types are
   * as they came.
   */
  tools: readonly ToolDefinition[];
  /** Default: `auto`. */
  tool_choice: ToolChoice;
  /** The names that may be called. Default: all. */
  allowed_tools?: NamedTool[] | undefined;
  /** Default: true. */
  parallel_tool_calls: boolean;
  /** Default: plain text. */
  text: TextOptions;
  reasoning: ReasoningOptions;
  include: string[];
  metadata: Record<string, string>;
  /** Default: `disabled`. */
  truncation: "auto" | "disabled";
  /** How many tokens the model may have to read before the conversation is compacted. Default: any number. */
  compact_threshold?: number | undefined;
  service_tier?: (typeof serviceTiers)[number] | undefined;
  /** What the response echoes as the client gave it. `tools` only if they differ from those of the request. */
  echo: { tool_choice: JsonValue; tools?: JsonObject[] | undefined; instructions: string | null };
}

export interface Limits extends Partial<SchemaLimits> {
  maxItems: number;
  maxTools: number;
}

/** 1,000 items and 128 tools. */
export const defaultLimits: Limits = { maxItems: 1000, maxTools: 128 };

export interface ParseOptions {
  limits: Limits;
  /** Whether unknown fields, items and tools are errors; else they are ignored. */
  isStrict: boolean;
  /** Whether an executor runs tools of a type that is not the API's. Default: none does. */
  isKnownTool?: (tool: ToolDefinition) => boolean;
  /** Whether an executor makes items of a type that is not the server's own, and so reads them. Default: none does. */
  isKnownItem?: (type: string) => boolean;
  /** Whether the input may be left out, as another request follows before the model is called. Default: false. */
  takesNoInput?: boolean;
  /** The URLs that the input may have. Default: those of public hosts. */
  urls?: UrlRules | undefined;
}

/**
 * Reads a body. Throws an `ApiError` (400) that names the field, what was expected and what came. `warnings` list what
 * was ignored, for the log.
 */
export function parseCreateRequest(
  body: unknown,
  options: ParseOptions,
): { request: CreateRequest; warnings: string[] } {
  checkCount(body, "input", "items", options.limits.maxItems);
  checkCount(body, "tools", "tools", options.limits.maxTools);
  checkSize(body, options.limits.maxItems);
  const parsed = isUsualRequest(body) ? (body as z.infer<typeof frame>) : parseField(frame, body);
  checkEach(inputItem, isUsualItem, parsed.input, body, "input");
  checkEach(tool, isUsualFunction, parsed.tools, body, "tools");
  checkUrls(parsed.input, options.urls ?? defaultUrlRules, ["input"]);
  const request = toRequest(parsed, body as JsonObject);
  if (request.tools.length > options.limits.maxTools)
    throw tooMany("tools", "tools", options.limits.maxTools, request.tools.length);
  const given = ((body as JsonObject)["tools"] ?? []) as JsonObject[];
  checkSchemaSizes(request, given, { ...defaultSchemaLimits, ...options.limits });
  checkTogether(request, options.takesNoInput ?? false);
  const warnings = findUnknown(body as JsonObject, options);
  return { request, warnings };
}

/** The body without its two long lists: their entries are validated one by one, up to the first fault. */
export const frame = createRequestSchema.extend({
  input: z.union([z.string(), z.array(z.unknown())]).nullish(),
  tools: z.array(z.unknown()).nullish(),
});

function checkEach(
  schema: z.ZodType,
  isUsual: (entry: unknown) => boolean,
  list: unknown,
  body: unknown,
  field: string,
): void {
  if (!Array.isArray(list)) return;
  for (let index = 0; index < list.length; index += 1)
    if (!isUsual(list[index])) parseField(schema, list[index], body, [field, index]);
}

/** Checked first, so that a huge list costs nothing. */
function checkCount(body: unknown, field: "input" | "tools", what: string, max: number): void {
  const list = (body as Record<string, unknown> | null)?.[field];
  if (Array.isArray(list) && list.length > max) throw tooMany(field, what, max, list.length);
}

function tooMany(field: string, what: string, max: number, count: number) {
  return invalidRequest(field, `${field}: expected at most ${max} ${what}, got ${count}. Send fewer.`);
}

/** Lists are taken from the body itself: zod reorders the keys. */
function toRequest(given: z.infer<typeof frame>, body: JsonObject): CreateRequest {
  const sent = (body["tools"] ?? []) as JsonObject[];
  const input = toItems((body["input"] ?? []) as string | JsonObject[]);
  const own = toTools(sent);
  const tools = withToolsOf(input, own);
  const areEchoed = tools === own && sent.every(({ type }) => type === "function");
  const { conversation } = given;
  return {
    ...optionalsOf(given),
    input,
    conversation: (typeof conversation === "object" ? conversation?.id : conversation) ?? undefined,
    stream: given.stream ?? false,
    background: given.background ?? false,
    store: given.store ?? true,
    tools,
    ...toChoice(given.tool_choice, given.allowed_tools),
    parallel_tool_calls: given.parallel_tool_calls ?? true,
    text: toTextOptions(given.text),
    reasoning: toReasoningOptions(given.reasoning),
    include: given.include ? [...new Set(given.include)] : [],
    metadata: toMetadata(given.metadata),
    truncation: given.truncation ?? "disabled",
    compact_threshold:
      given.context_management?.find(({ type }) => type === "compaction")?.compact_threshold ?? undefined,
    service_tier: serviceTiers.find((tier) => tier === given.service_tier),
    echo: {
      tool_choice: echoChoice(body["tool_choice"]),
      tools: areEchoed ? undefined : echoTools(sent),
      instructions: given.instructions ?? null,
    },
  };
}

/** The tools that the response echoes. */
export function echoedTools({ tools, echo }: Pick<CreateRequest, "tools" | "echo">): JsonObject[] {
  return echo.tools ?? echoTools(tools);
}

/** The tools with those that items bring. */
function withToolsOf(
  input: readonly InputItem[],
  tools: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  return input.reduce((all, item) => {
    const brought = toolsToOffer(item);
    return brought.length === 0 ? all : addTools(all, toTools(brought));
  }, tools);
}

function optionalsOf(given: z.infer<typeof frame>): OptionalFields {
  const found: Record<string, unknown> = {};
  for (const field of optionalFields) if (given[field] != null) found[field] = given[field];
  return found;
}

/** Faults of one field together with another. */
function checkTogether(request: CreateRequest, takesNoInput: boolean): void {
  const isFollowUp = request.previous_response_id !== undefined || request.conversation !== undefined;
  if (request.previous_response_id !== undefined && request.conversation !== undefined)
    throw invalidRequest(
      "conversation",
      "conversation: expected nothing as previous_response_id is given, got both. Send one of them.",
    );
  if (request.input.length === 0 && !isFollowUp && !takesNoInput)
    throw invalidRequest(
      "input",
      "input: expected a text or a list of items, got nothing. Only a request that follows another (previous_response_id, conversation) may leave it out.",
    );
  if (request.conversation !== undefined && !request.store)
    throw invalidRequest(
      "store",
      "store: expected true as conversation is given, got false. What a conversation gets has to be stored.",
    );
  if (request.background && !request.store)
    throw invalidRequest(
      "store",
      "store: expected true as background is true, got false. A response in the background has to be stored.",
    );
}
