// The body of a request, from the settings and what a person wrote.

import type { ToolInfo } from "../api/inspect-types.ts";
import type { ContentPart, Item } from "../api/response.ts";
import type { ChatSettings } from "./settings.ts";
import { toolEntries } from "./tool-choice.ts";

export interface RequestParts {
  readonly settings: ChatSettings;
  readonly tools: readonly ToolInfo[];
  /** Functions that an earlier client brought: without them their results would have no meaning. */
  readonly functions: readonly Item[];
  readonly input: readonly Item[];
  /** The response that it follows; or the conversation; null for a first message. */
  readonly after: { readonly response: string } | { readonly conversation: string } | null;
  readonly source: string;
  /** Whether the server keeps responses. */
  readonly isStored: boolean;
}

/** Throws an error for the person if a setting cannot be sent. */
export function toRequest(parts: RequestParts): Record<string, unknown> {
  const { settings, input, after, source, isStored } = parts;
  const { model, instructions, temperature, maxOutputTokens, effort, schema } = settings;
  const tools = [...toolEntries(parts.tools, settings.tools), ...parts.functions];
  return {
    // Nobody waits for the list of models: until it is there, the server chooses.
    ...(model !== "" && { model }),
    input,
    stream: true,
    store: isStored,
    metadata: { source },
    ...(after && "response" in after && { previous_response_id: after.response }),
    ...(after && "conversation" in after && { conversation: after.conversation }),
    ...(instructions.trim() !== "" && { instructions }),
    ...(temperature !== "" && { temperature: toNumber("temperature", temperature) }),
    ...(maxOutputTokens !== "" && { max_output_tokens: toNumber("length of the answer", maxOutputTokens) }),
    ...(effort !== "" && { reasoning: { effort } }),
    ...(schema.trim() !== "" && { text: { format: toFormat(schema) } }),
    ...(tools.length > 0 && { tools }),
    ...(tools.some(({ type }) => type === "code_interpreter") && {
      include: ["code_interpreter_call.outputs"],
    }),
  };
}

/** What is wrong with a schema; undefined if nothing is. */
export function schemaProblem(schema: string): string | undefined {
  if (schema.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(schema);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : 'A JSON schema is an object, such as { "type": "object" }.';
  } catch (error) {
    return `This is not valid JSON: ${(error as Error).message}`;
  }
}

/** The message that a person wrote, with its images, and what else it had before it was edited. */
export function userMessage(
  text: string,
  images: readonly string[],
  others: readonly ContentPart[] = [],
): Item {
  if (images.length === 0 && others.length === 0) return { type: "message", role: "user", content: text };
  return {
    type: "message",
    role: "user",
    content: [
      ...(text === "" ? [] : [{ type: "input_text", text }]),
      ...images.map((image_url) => ({ type: "input_image", image_url, detail: "auto" })),
      ...others,
    ],
  };
}

function toFormat(schema: string) {
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw new Error(`The schema of the answer cannot be sent. ${problem}`);
  return { type: "json_schema", name: "answer", schema: JSON.parse(schema) as unknown, strict: true };
}

function toNumber(what: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`The ${what} should be a number, and is "${text}".`);
  return value;
}
