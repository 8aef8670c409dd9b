import fc from "fast-check";
import { expect, test } from "vitest";
import { inputItem } from "./input-items.ts";
import { tool } from "./tools.ts";
import { isUsualFunction, isUsualItem } from "./usual-shapes.ts";

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
