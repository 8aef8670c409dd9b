import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { frame } from "./create-request.ts";
import { inputItem } from "./input-items.ts";
import { tool } from "./tools.ts";
import { isUsualFunction, isUsualItem, isUsualRequest } from "./usual-shapes.ts";

const someText = fc.constantFrom("", "a", "héllo");
const odd = fc.constantFrom<unknown>(null, 0, 1.5, true, [], {}, ["a"], { type: "text" }, "", "x", undefined);

/** Mostly as it should be, and anything now and then. */
const either = (usual: fc.Arbitrary<unknown>) => fc.oneof({ weight: 6, arbitrary: usual }, odd);
const rare = either(fc.constant(undefined));

const part = fc.record(
  {
    type: either(fc.constantFrom("input_text", "output_text", "text", "refusal", "input_image")),
    text: either(someText),
  },
  { requiredKeys: [] },
);
const content = either(fc.oneof(someText, fc.array(part, { maxLength: 2 })));

const item = fc.record(
  {
    type: either(fc.constantFrom("message", "function_call", "function_call_output", "reasoning", "own")),
    role: either(fc.constantFrom("user", "assistant", "system", "developer", "tool")),
    content,
    output: content,
    id: either(someText),
    status: either(someText),
    created_by: rare,
    phase: rare,
    call_id: either(someText),
    name: either(someText),
    arguments: either(someText),
    namespace: rare,
    async: rare,
    caller: rare,
  },
  { requiredKeys: [] },
);

const definition = fc.record(
  {
    type: either(fc.constantFrom("function", "custom", "mcp")),
    name: either(someText),
    description: either(someText),
    parameters: either(fc.constantFrom({}, { type: "object", properties: {} })),
    strict: either(fc.boolean()),
    defer_loading: rare,
    async: rare,
    allowed_callers: rare,
    output_schema: rare,
  },
  { requiredKeys: [] },
);

const request = fc.record(
  {
    model: either(fc.constantFrom("m", "x".repeat(256), "x".repeat(257))),
    input: either(fc.oneof(someText, fc.array(odd, { maxLength: 2 }))),
    instructions: either(someText),
    previous_response_id: either(fc.constantFrom("resp_1", "x".repeat(257))),
    tools: either(fc.array(odd, { maxLength: 2 })),
    parallel_tool_calls: either(fc.boolean()),
    stream: either(fc.boolean()),
    background: either(fc.boolean()),
    store: either(fc.boolean()),
    max_output_tokens: either(fc.constantFrom(1, 100, 0, -1, 2 ** 53)),
    temperature: either(fc.constantFrom(0, 0.5, 2, 2.1, -1)),
    user: either(someText),
    prompt_cache_key: either(someText),
  },
  { requiredKeys: [] },
);

function agreements(
  values: fc.Arbitrary<unknown>,
  isUsual: (value: unknown) => boolean,
  isValid: (value: unknown) => boolean,
): number {
  let usual = 0;
  fc.assert(
    fc.property(fc.oneof({ weight: 20, arbitrary: values }, odd), (value) => {
      if (!isUsual(value)) return;
      usual += 1;
      expect(isValid(value)).toBe(true);
    }),
    { numRuns: 5_000 },
  );
  return usual;
}

test("a request of a usual shape is valid, and stays as it is", () => {
  const isSame = (value: unknown) =>
    isDeepStrictEqual({ ...frame.safeParse(value).data }, { ...(value as object) });
  expect(agreements(request, isUsualRequest, isSame)).toBeGreaterThan(100);
  expect(isUsualRequest({ model: "m", own: undefined })).toBe(false);
  expect(isUsualRequest(JSON.parse('{"model":"m","__proto__":{"input":1}}'))).toBe(false);
});

test("an item of a usual shape is valid", () => {
  expect(agreements(item, isUsualItem, (it) => inputItem.safeParse(it).success)).toBeGreaterThan(100);
});

test("a function of a usual shape is valid", () => {
  expect(agreements(definition, isUsualFunction, (it) => tool.safeParse(it).success)).toBeGreaterThan(100);
});

test("what clients send most is of a usual shape", () => {
  const items = [
    { role: "user", content: "hi" },
    {
      type: "message",
      id: "msg_1",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "hello", annotations: [] }],
    },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "3" },
  ];
  expect(items.filter((it) => !isUsualItem(it))).toEqual([]);
  const add = { type: "function", name: "add", description: "Adds.", parameters: {}, strict: true };
  expect(isUsualFunction(add)).toBe(true);
});
