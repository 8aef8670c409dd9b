import { describe, expect, test } from "vitest";
import { responseSchema } from "./response.ts";
import { type ResponseParts, responseObject } from "./response-object.ts";
import { fromStoredRequest, toStoredRequest } from "./stored-request.ts";
import { read } from "./testkit/requests.ts";

const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 3,
};

function partsOf(body: object, change: Partial<ResponseParts> = {}): ResponseParts {
  return {
    id: "resp_1",
    status: "completed",
    background: false,
    model: "m",
    createdAtMs: 1_700_000_000_900,
    completedAtMs: 1_700_000_002_100,
    previousResponseId: null,
    error: null,
    incompleteReason: null,
    usage,
    request: fromStoredRequest(toStoredRequest(read(body))),
    output: [],
    ...change,
  };
}

describe("a response object", () => {
  test("has all 31 keys, in the order of the API, with its defaults", () => {
    const response = responseObject(partsOf({}));
    expect(Object.entries(response)).toEqual([
      ["id", "resp_1"],
      ["object", "response"],
      ["created_at", 1_700_000_000],
      ["completed_at", 1_700_000_002],
      ["status", "completed"],
      ["incomplete_details", null],
      ["model", "m"],
      ["previous_response_id", null],
      ["instructions", null],
      ["output", []],
      ["error", null],
      ["tools", []],
      ["tool_choice", "auto"],
      ["truncation", "disabled"],
      ["parallel_tool_calls", true],
      ["text", { format: { type: "text" }, verbosity: "medium" }],
      ["top_p", 1],
      ["presence_penalty", 0],
      ["frequency_penalty", 0],
      ["top_logprobs", 0],
      ["temperature", 1],
      ["reasoning", { effort: null, summary: null }],
      ["usage", usage],
      ["max_output_tokens", null],
      ["max_tool_calls", null],
      ["store", true],
      ["background", false],
      ["service_tier", "default"],
      ["metadata", {}],
      ["safety_identifier", null],
      ["prompt_cache_key", null],
    ]);
    expect(Object.keys(response)).toHaveLength(31);
    const { conversation: _onlyWithOne, warnings: _onlyWithSome, ...always } = responseSchema.shape;
    expect(Object.keys(response)).toEqual(Object.keys(always));
  });

  test("names its conversation if it has one", () => {
    expect(responseObject(partsOf({ conversation: { id: "conv_1" } }))).toMatchObject({
      conversation: { id: "conv_1" },
    });
  });

  test("echoes the request", () => {
    const said = {
      instructions: "Be brief.",
      max_output_tokens: 5,
      max_tool_calls: 0,
      parallel_tool_calls: false,
      prompt_cache_key: "k",
      reasoning: { effort: "high", summary: "auto" },
      safety_identifier: "s",
      service_tier: "flex",
      store: false,
      temperature: 0,
      text: { format: { type: "json_object" }, verbosity: "low" },
      tool_choice: { type: "function", name: "f" },
      tools: [{ type: "function", name: "f", description: null, parameters: null, strict: null }],
      top_logprobs: 2,
      top_p: 0,
      presence_penalty: 1,
      frequency_penalty: -1,
      truncation: "auto",
      metadata: { a: "b" },
    };
    expect(responseObject(partsOf(said))).toMatchObject(said);
  });

  test("has the progress of the run", () => {
    const running = { status: "in_progress", completedAtMs: null, usage: null } as const;
    expect(responseObject(partsOf({}, running))).toMatchObject({
      status: "in_progress",
      completed_at: null,
      usage: null,
    });
    const error = { type: "server_error", code: "upstream_error", message: "m", param: null };
    expect(responseObject(partsOf({}, { status: "failed", error })).error).toEqual(error);
    const cut = partsOf({}, { status: "incomplete", incompleteReason: "max_agentic_turns" });
    expect(responseObject(cut).incomplete_details).toEqual({ reason: "max_agentic_turns" });
    expect(responseObject(partsOf({}, { background: true, previousResponseId: "resp_0" }))).toMatchObject({
      background: true,
      previous_response_id: "resp_0",
    });
  });

  test("matches its schema", () => {
    const item = {
      type: "function_call",
      id: "fc",
      call_id: "c",
      name: "f",
      arguments: "{}",
      status: "completed",
    } as const;
    const response = responseObject(
      partsOf({ tools: [{ type: "function", name: "f" }] }, { output: [item] }),
    );
    expect(responseSchema.strict().parse(response)).toEqual(response);
  });
});

describe("a stored request", () => {
  const body = {
    model: "m",
    tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
    allowed_tools: ["f"],
    metadata: { a: "b" },
    text: { format: { type: "json_schema", name: "n", schema: { type: "object" } } },
  };

  test("is the request without its input, also after JSON", () => {
    const { input: _left, ...options } = read(body);
    const stored = toStoredRequest(read(body));
    expect(stored).not.toHaveProperty("input");
    expect(fromStoredRequest(JSON.parse(JSON.stringify(stored)))).toEqual(options);
  });

  test("of another version is refused", () => {
    expect(() => fromStoredRequest({ ...toStoredRequest(read({})), version: 2 })).toThrow(
      "The stored request has version 2, expected 1. Was the store written by a newer server?",
    );
  });
});
