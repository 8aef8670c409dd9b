// Bodies of requests for fuzzing: any JSON, and one that uses everything with some of it changed.

import fc from "fast-check";

/** A body that uses everything. */
export const whole = {
  model: "m",
  input: [
    { role: "user", content: "Hi" },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "a" },
        { type: "input_image", image_url: { url: "https://example.org" }, detail: "low" },
        { type: "input_file", file_data: "x", filename: "a.txt" },
      ],
    },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "refusal", refusal: "No" }],
      phase: "x",
    },
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] },
    { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "x" }] },
    { type: "custom_tool_call", call_id: "d", name: "c", input: "x" },
    { type: "custom_tool_call_output", call_id: "d", output: "x" },
    {
      type: "mcp_call",
      id: "mcp_1",
      server_label: "s",
      name: "f",
      arguments: "{}",
      output: null,
      error: null,
    },
    {
      type: "mcp_list_tools",
      id: "mcpl_1",
      server_label: "s",
      tools: [{ name: "f", input_schema: { type: "object" } }],
    },
    { type: "mcp_approval_request", id: "mcpr_1", server_label: "s", name: "f", arguments: "{}" },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true, reason: "r" },
    { type: "agent_message", anything: { a: [1] } },
    { id: "msg_2" },
  ],
  instructions: "Be brief.",
  previous_response_id: "resp_1",
  stream: true,
  background: false,
  store: true,
  tools: [
    { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true },
    { type: "custom", name: "c", format: { type: "text" } },
    { type: "namespace", name: "n", description: "d", tools: [{ type: "function", name: "f" }] },
    { type: "mcp", server_label: "s", server_url: "https://example.org", headers: { a: "b" } },
    { type: "code_interpreter", container: { type: "auto" } },
    { type: "web_search" },
  ],
  tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
  allowed_tools: ["f", { name: "c" }],
  parallel_tool_calls: true,
  max_tool_calls: 1,
  max_output_tokens: 1,
  max_agentic_turns: 1,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  text: {
    format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true },
    verbosity: "low",
  },
  reasoning: { effort: "low", summary: "auto" },
  include: ["reasoning.encrypted_content"],
  metadata: { a: "b", c: 1 },
  truncation: "auto",
  service_tier: "auto",
  user: "u",
  safety_identifier: "s",
  prompt_cache_key: "k",
};

export const fields = Object.keys(whole);
const words = [
  "message",
  "function",
  "type",
  "id",
  "role",
  "content",
  "name",
  "function_call",
  "user",
  "auto",
];
export const json = fc.jsonValue({ maxDepth: 4 });
/** Values that parsers stumble over. */
export const nasty: fc.Arbitrary<unknown> = fc.oneof(
  json,
  fc.constantFrom<unknown>(
    null,
    "",
    0,
    -1,
    1e308,
    1.5,
    [],
    {},
    [null],
    [[]],
    { type: null },
    { id: 5 },
    "x".repeat(99),
  ),
  fc.constantFrom(...words),
  fc.constantFrom(
    ...["__proto__", "constructor", "toString"].map((key) => JSON.parse(`{"${key}": {"type": "x"}}`)),
  ),
);

/** Every place in a value, as a path. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

export const places = placesIn(whole).filter((path) => path.length > 0);

interface Change {
  path: string[];
  what: "replace" | "remove" | "add";
  key: string;
  value: unknown;
}

export const change: fc.Arbitrary<Change> = fc.record({
  path: fc.constantFrom(...places),
  what: fc.constantFrom("replace" as const, "remove" as const, "add" as const),
  key: fc.oneof(fc.constantFrom(...words, ...fields), fc.string()),
  value: nasty,
});

export function mutated(changes: readonly Change[]): fc.JsonValue {
  const body = structuredClone(whole) as Record<string, unknown>;
  for (const { path, what, key, value } of changes) {
    let parent: unknown = body;
    for (const step of path.slice(0, -1))
      parent = (parent as Record<string, unknown> | null | undefined)?.[step];
    if (typeof parent !== "object" || parent === null) continue;
    const place = parent as Record<string, unknown>;
    if (what === "remove") delete place[path.at(-1) as string];
    else
      Object.defineProperty(place, what === "add" && !Array.isArray(parent) ? key : (path.at(-1) as string), {
        // A later change may go into it, and must not change it for the next body.
        value: structuredClone(value),
        enumerable: true,
        writable: true,
        configurable: true,
      });
  }
  return JSON.parse(JSON.stringify(body));
}
