// The request that a response came from, as far as the response tells.

import type { Item, ResponseObject } from "../../api/response.ts";

/** Settings that are sent again unless they have their default. */
const defaults: Readonly<Record<string, unknown>> = {
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  max_output_tokens: null,
  max_tool_calls: null,
  background: false,
  service_tier: "default",
  safety_identifier: null,
  prompt_cache_key: null,
};

/** An item without the fields that only the server sets. */
type SentItem = Omit<Item, "status">;

/** Items that other items name by their id, or that name one by it. The server does not take them without. */
const itemsWithId = new Set(["mcp_approval_request", "item_reference", "local_shell_call_output"]);

/** The body of a request with another input, and otherwise as the one of this response. */
export function sameRequest(response: ResponseObject): Record<string, unknown> {
  const { model, instructions, tools, metadata, text, reasoning, conversation, previous_response_id } =
    response;
  const settings = Object.entries(defaults).flatMap(([name, usual]) =>
    response[name] === undefined || response[name] === usual ? [] : [[name, response[name]]],
  );
  return {
    model,
    ...(instructions !== null && { instructions }),
    ...(previous_response_id !== null && !conversation && { previous_response_id }),
    ...(conversation && { conversation: conversation.id }),
    ...(tools.length > 0 && { tools }),
    ...Object.fromEntries(settings),
    ...(isSet(text, { format: { type: "text" }, verbosity: "medium" }) && { text }),
    ...(isSet(reasoning, { effort: null, summary: null }) && { reasoning }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** The request itself. */
export function requestBody(response: ResponseObject, input: readonly Item[]): Record<string, unknown> {
  const { model, instructions, ...rest } = sameRequest(response);
  return { model, ...(instructions !== undefined && { instructions }), input: sentInput(input), ...rest };
}

/** A single message of a user in short. */
function sentInput(items: readonly Item[]): string | SentItem[] {
  const [only, ...others] = items;
  const content = only?.["content"];
  const part: unknown = Array.isArray(content) && content.length === 1 ? content[0] : undefined;
  const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
  const isPlain = only?.type === "message" && only["role"] === "user" && type === "input_text";
  if (isPlain && others.length === 0 && typeof text === "string") return text;
  return items.map(({ id, status: _status, ...sent }) =>
    id !== undefined && itemsWithId.has(sent.type) ? { id, ...sent } : sent,
  );
}

function isSet(value: unknown, usual: unknown): boolean {
  return value !== undefined && value !== null && sorted(value) !== sorted(usual);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
