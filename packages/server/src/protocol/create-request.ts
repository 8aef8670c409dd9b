// Reads the body of POST /v1/responses: liberal in what it takes, and one form of it for the engine.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { addTools, toolsOfItem } from "./client-tools.ts";
import { createRequestSchema, inputTokensSchema } from "./create-request-schema.ts";
import { fieldError } from "./field-error.ts";
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

/** A request with its defaults filled in. */
export interface CreateRequest {
  model: string | undefined;
  /** A text as input is one message of the user. */
  input: InputItem[];
  instructions: string | undefined;
  previous_response_id: string | undefined;
  conversation: string | undefined;
  /** Default: false. */
  stream: boolean;
  /** Default: false. */
  background: boolean;
  /** Default: true. */
  store: boolean;
  /**
   * With those that items of the input bring. Namespaces are flattened, custom tools are functions; types that
   * nobody knows are as they came.
   */
  tools: ToolDefinition[];
  /** Default: `auto`. */
  tool_choice: ToolChoice;
  /** The names that may be called. Default: all. */
  allowed_tools: NamedTool[] | undefined;
  /** Default: true. */
  parallel_tool_calls: boolean;
  max_tool_calls: number | undefined;
  max_output_tokens: number | undefined;
  max_agentic_turns: number | undefined;
  temperature: number | undefined;
  top_p: number | undefined;
  presence_penalty: number | undefined;
  frequency_penalty: number | undefined;
  top_logprobs: number | undefined;
  /** Default: plain text. */
  text: TextOptions;
  reasoning: ReasoningOptions;
  include: string[];
  metadata: Record<string, string>;
  /** Default: `disabled`. */
  truncation: "auto" | "disabled";
  service_tier: (typeof serviceTiers)[number] | undefined;
  user: string | undefined;
  safety_identifier: string | undefined;
  prompt_cache_key: string | undefined;
  /** What the response shows as the client gave it. */
  echo: { tool_choice: JsonValue; tools: JsonObject[]; instructions: string | null };
}

export interface Limits extends Partial<SchemaLimits> {
  maxItems: number;
  maxTools: number;
}

/** 1,000 items and 128 tools. */
export const defaultLimits: Limits = { maxItems: 1000, maxTools: 128 };

export interface ParseOptions {
  limits: Limits;
  /** Whether what is not known is an error, and not just left out. */
  isStrict: boolean;
  /** Whether something can run a tool of a type that is not the API's. Default: nothing can. */
  isKnownTool?: (tool: ToolDefinition) => boolean;
  /** Whether the input may be left out: there will be another request before the model is asked. Default: false. */
  takesNoInput?: boolean;
  /** Which URLs the input may have. Default: those of public hosts. */
  urls?: UrlRules | undefined;
}

/**
 * Reads a body. Throws an `ApiError` (400) that names the field, what was expected and what came. `warnings`
 * say what was left out, for the log.
 */
export function parseCreateRequest(
  body: unknown,
  options: ParseOptions,
): { request: CreateRequest; warnings: string[] } {
  checkCount(body, "input", "items", options.limits.maxItems);
  checkCount(body, "tools", "tools", options.limits.maxTools);
  checkSize(body, Math.max(maxEntries, options.limits.maxItems));
  const parsed = frame.safeParse(body);
  if (!parsed.success) throw fieldError(parsed.error, body);
  checkEach(inputItem, parsed.data.input, body, "input");
  checkEach(tool, parsed.data.tools, body, "tools");
  checkUrls(parsed.data.input, options.urls ?? defaultUrlRules, ["input"]);
  const request = toRequest(parsed.data, body as JsonObject);
  if (request.tools.length > options.limits.maxTools)
    throw tooMany("tools", "tools", options.limits.maxTools, request.tools.length);
  const given = ((body as JsonObject)["tools"] ?? []) as JsonObject[];
  checkSchemaSizes(request, given, { ...defaultSchemaLimits, ...options.limits });
  checkTogether(request, options.takesNoInput ?? false);
  const warnings = findUnknown(body as JsonObject, options);
  return { request, warnings };
}

/** No list of a request needs more. */
const maxEntries = 10_000;

/** The body with its two long lists left open: they are read one by one, so that the first fault ends it. */
const frame = createRequestSchema.extend({
  input: z.union([z.string(), z.array(z.unknown())]).nullish(),
  tools: z.array(z.unknown()).nullish(),
});

function checkEach(schema: z.ZodType, list: unknown, body: unknown, field: string): void {
  if (!Array.isArray(list)) return;
  for (const [index, entry] of list.entries()) {
    const { error } = schema.safeParse(entry);
    if (error) throw fieldError(error, body, [field, index]);
  }
}

/** Before anything else, so that a huge list costs nothing. */
function checkCount(body: unknown, field: "input" | "tools", what: string, max: number): void {
  const list = (body as Record<string, unknown> | null)?.[field];
  if (Array.isArray(list) && list.length > max) throw tooMany(field, what, max, list.length);
}

function tooMany(field: string, what: string, max: number, count: number) {
  return invalidRequest(field, `${field}: expected at most ${max} ${what}, got ${count}. Send fewer.`);
}

/** Lists are taken from the body itself: what zod gives has the keys in another order. */
function toRequest(given: z.infer<typeof frame>, body: JsonObject): CreateRequest {
  const tools = (body["tools"] ?? []) as JsonObject[];
  const input = toItems((body["input"] ?? []) as string | JsonObject[]);
  const { conversation } = given;
  return {
    model: given.model ?? undefined,
    input,
    instructions: given.instructions ?? undefined,
    previous_response_id: given.previous_response_id ?? undefined,
    conversation: (typeof conversation === "object" ? conversation?.id : conversation) ?? undefined,
    stream: given.stream ?? false,
    background: given.background ?? false,
    store: given.store ?? true,
    tools: input.reduce((all, item) => addTools(all, toTools(toolsOfItem(item))), toTools(tools)),
    ...toChoice(given.tool_choice, given.allowed_tools),
    parallel_tool_calls: given.parallel_tool_calls ?? true,
    max_tool_calls: given.max_tool_calls ?? undefined,
    max_output_tokens: given.max_output_tokens ?? undefined,
    max_agentic_turns: given.max_agentic_turns ?? undefined,
    temperature: given.temperature ?? undefined,
    top_p: given.top_p ?? undefined,
    presence_penalty: given.presence_penalty ?? undefined,
    frequency_penalty: given.frequency_penalty ?? undefined,
    top_logprobs: given.top_logprobs ?? undefined,
    text: toTextOptions(given.text),
    reasoning: toReasoningOptions(given.reasoning),
    include: [...new Set(given.include ?? [])],
    metadata: toMetadata(given.metadata),
    truncation: given.truncation ?? "disabled",
    service_tier: serviceTiers.find((tier) => tier === given.service_tier),
    user: given.user ?? undefined,
    safety_identifier: given.safety_identifier ?? undefined,
    prompt_cache_key: given.prompt_cache_key ?? undefined,
    echo: {
      tool_choice: echoChoice(body["tool_choice"]),
      tools: echoTools(tools),
      instructions: given.instructions ?? null,
    },
  };
}

/**
 * Reads the body of POST /v1/responses/input_tokens: what decides about the input, all else is left out. Throws
 * an `ApiError` (400).
 */
export function parseInputTokensRequest(
  body: unknown,
  options: ParseOptions,
): { request: CreateRequest; warnings: string[] } {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    return parseCreateRequest(body, options);
  const known = Object.entries(body).filter(([field]) => Object.hasOwn(inputTokensSchema.shape, field));
  return parseCreateRequest(Object.fromEntries(known), options);
}

/** What is wrong only together with something else. */
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
