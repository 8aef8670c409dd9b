// The body of a chat-completions request, as the model's profile needs it.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { definitionsJson } from "../tool/definition.ts";
import type { OpenAITool } from "../tool/tool.ts";
import { checkSettings } from "./check-settings.ts";
import type { ModelProfile } from "./profile.ts";
import type { ModelRequest, OutputFormat } from "./provider.ts";
import { messagesJson } from "./written-messages.ts";

export interface RequestBody {
  /** JSON text, in parts. */
  readonly parts: readonly string[];
  /** The tools that the model was offered. */
  readonly toolNames: readonly string[];
  /** Whether the answer is requested whole. */
  readonly isWhole: boolean;
}

/**
 * The body of a request. Fields that are not set are left out; those of `extraBody` override. The answer is requested
 * whole if `mayBeWhole`, unless `extraBody` has options of a stream: servers reject those without a stream.
 */
export function requestBody(
  request: ModelRequest,
  model: string,
  profile: ModelProfile,
  mayBeWhole = false,
): RequestBody {
  const { messages, output, settings = {} } = request;
  checkSettings("settings", settings);
  const { stream, stream_options: streamOptions } = settings.extraBody ?? {};
  const isWhole = mayBeWhole && stream !== true && streamOptions === undefined;
  const { tools, choice, instruction } = toolOffer(request, profile);
  const rest = {
    stream: !isWhole,
    stream_options: isWhole ? undefined : { include_usage: true },
    temperature: settings.temperature,
    max_tokens: settings.maxTokens,
    top_p: settings.topP,
    seed: settings.seed,
    stop: settings.stop,
    tool_choice: choice,
    response_format: output && profile.outputMode === "native" ? responseFormat(output) : undefined,
    ...settings.extraBody,
  };
  const parts = bodyParts(model, messagesJson(messages, profile, instruction), tools, rest);
  // An answer in a shape that looks like a call is not one.
  const isOnlyShape = output !== undefined && request.toolChoice === "none";
  return { parts, toolNames: isOnlyShape ? [] : tools.map((tool) => tool.function.name), isWhole };
}

/** The fields in this order, unless `extraBody` has other messages, other tools or another model. */
function bodyParts(
  model: string,
  messages: readonly string[],
  tools: readonly OpenAITool[],
  rest: Readonly<Record<string, unknown>>,
): readonly string[] {
  const offered = tools.length > 0 ? tools : undefined;
  if (["model", "messages", "tools"].some((field) => Object.hasOwn(rest, field)))
    return [
      JSON.stringify({
        model,
        messages: JSON.parse(messages.join("")) as unknown,
        tools: offered,
        ...rest,
      }),
    ];
  const others = JSON.stringify(rest).slice(1);
  return [
    `{"model":${JSON.stringify(model)},"messages":`,
    ...messages,
    ...(offered ? [`,"tools":${definitionsJson(offered)}`] : []),
    `${others === "}" ? "" : ","}${others}`,
  ];
}

function responseFormat({ name, schema }: OutputFormat): object {
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", json_schema: { name, schema, strict: true } };
}

interface ToolOffer {
  readonly tools: readonly OpenAITool[];
  readonly choice?: unknown;
  /** For the system message, instead of `tool_choice`. */
  readonly instruction?: string;
}

function toolOffer({ tools = [], toolChoice }: ModelRequest, profile: ModelProfile): ToolOffer {
  checkToolChoice(tools, toolChoice);
  if (toolChoice === undefined || tools.length === 0) return { tools };
  const named = typeof toolChoice === "object" ? toolChoice.name : undefined;
  const onlyNamed = () => tools.filter((tool) => tool.function.name === named);
  if (profile.honoursToolChoice) {
    if (named === undefined) return { tools, choice: toolChoice };
    if (profile.namesToolChoice === false) return { tools: onlyNamed(), choice: "required" };
    return { tools, choice: { type: "function", function: { name: named } } };
  }
  if (named !== undefined)
    return { tools: onlyNamed(), instruction: `Answer with a call of the tool '${named}'.` };
  if (toolChoice === "none") return { tools: [] };
  return toolChoice === "required"
    ? { tools, instruction: "Answer with a call of one of the tools." }
    : { tools };
}

/** Refuses a choice that is not one, or of a tool that is not offered. */
export function checkToolChoice(tools: readonly OpenAITool[], choice: ModelRequest["toolChoice"]): void {
  if (choice === undefined || choice === "auto" || choice === "none") return;
  const field = "toolChoice";
  const names = tools.map((tool) => tool.function.name);
  if (choice !== "required" && typeof (choice as { name?: unknown } | null)?.name !== "string")
    throw new InvalidTypeError({
      field,
      expected: `"auto", "none", "required" or { name }`,
      received: choice,
    });
  const isPossible = choice === "required" ? names.length > 0 : names.includes(choice.name);
  if (isPossible) return;
  throw new InvalidArgumentError({
    field,
    expected: names.length > 0 ? `one of the tools ${names.join(", ")}` : "tools to choose from",
    received: choice === "required" ? choice : choice.name,
    hint: "Offer the tool in tools, or leave toolChoice out.",
  });
}
