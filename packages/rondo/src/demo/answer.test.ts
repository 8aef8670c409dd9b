import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../error/check.ts";
import type { Message } from "../index.ts";
import type { ModelRequest } from "../models.ts";
import { compileJsonSchema, type JsonSchema } from "../tool/json-schema.ts";
import { answerTo } from "./answer.ts";
import { add, clock, echo, multiply, requestOf, search, weather } from "./testkit/ask-demo.ts";

const tools = [add, multiply, clock, weather, search, echo].map((tool) => tool.toOpenAI());
const callsFor = (prompt: string, rest: Partial<ModelRequest> = {}) =>
  answerTo(requestOf(prompt, { tools, ...rest })).calls.map(({ name, arguments: text }) => `${name}${text}`);

/** A tool with these parameters, each required. */
function toolWith(
  name: string,
  properties: Record<string, JsonSchema>,
  description = "",
): (typeof tools)[number] {
  const parameters = { type: "object", properties, required: Object.keys(properties) };
  return { type: "function", function: { name, description, parameters } };
}
const number = { type: "number" };

describe("the choice of a tool", () => {
  test("'none' forbids calls", () => {
    const answer = answerTo(requestOf("What is 25 + 17?", { tools, toolChoice: "none" }));
    expect(answer).toMatchObject({ calls: [], text: "25 + 17 is 42." });
  });

  test("'required' makes it call one, with made-up arguments if necessary", () => {
    expect(callsFor("Hello", { toolChoice: "required" })).toEqual(['add{"a":0,"b":0}']);
    expect(callsFor("Is there weather in Rome?", { toolChoice: "required" })).toEqual([
      'get_weather{"city":"Rome"}',
    ]);
    expect(callsFor("What time is it?", { toolChoice: "required" })).toEqual(["get_time{}"]);
  });

  test("by name makes it call that one only", () => {
    expect(callsFor("What is 25 + 17?", { toolChoice: { name: "multiply" } })).toEqual([
      'multiply{"a":25,"b":17}',
    ]);
    expect(callsFor("What is 25 + 17?", { toolChoice: { name: "add" } })).toEqual(['add{"a":25,"b":17}']);
  });

  test("of one call at a time is respected", () => {
    const settings = { extraBody: { parallel_tool_calls: false } };
    expect(callsFor("What is 1 + 2 and what is 3 * 4?", { settings })).toEqual(['add{"a":1,"b":2}']);
  });
});

describe("arithmetic goes to", () => {
  test.each([
    [
      "a tool whose name has the word",
      toolWith("sumTwoNumbers", { x: number, y: number }),
      '{"x":25,"y":17}',
    ],
    [
      "a tool whose description has it",
      toolWith("op1", { x: number, y: number }, "Adds."),
      '{"x":25,"y":17}',
    ],
    ["a tool for lists", toolWith("sum", { all: { type: "array", items: number } }), '{"all":[25,17]}'],
    [
      "a tool for expressions",
      toolWith("anything", { expression: { type: "string" } }),
      '{"expression":"25 + 17"}',
    ],
    ["a calculator", toolWith("calculator", { input: { type: "string" } }), '{"input":"25 + 17"}'],
  ])("%s", (_title, tool, expected) => {
    const [call] = answerTo(requestOf("What is 25 + 17?", { tools: [tool] })).calls;
    expect(call).toMatchObject({ name: tool.function.name, arguments: expected });
  });

  test.each([
    ["for another operator", toolWith("multiply", { a: number, b: number }, "Adds a to itself b times.")],
    ["with two numbers for something else", toolWith("resize", { width: number, height: number })],
    ["that does not take these numbers", toolWith("add", { a: { type: "number", maximum: 1 }, b: number })],
  ])("no tool %s", (_title, tool) => {
    expect(answerTo(requestOf("What is 25 + 17?", { tools: [tool] }))).toMatchObject({
      calls: [],
      text: "25 + 17 is 42.",
    });
  });
});

describe("without tools", () => {
  test.each([
    ["What is 2 + 3 * 4?", "2 + 3 * 4 is 14."],
    ["What is 7 / 0?", "7 / 0 has no result."],
    ["Add 1 and 2, then multiply by 10.", "1 + 2 is 3. 3 * 10 is 30."],
    ["Add 1 and 2. Multiply it by 10.", "1 + 2 is 3. 3 * 10 is 30."],
    ["Say hello", "hello"],
    ['Say "1 + 1"', "1 + 1"],
    ["Repeat after me: one", "one"],
    ['Say "one. Two?"', "one. Two?"],
    ["What is 20 + 1, then multiply it by 2, then say it", "20 + 1 is 21. 21 * 2 is 42. 42"],
  ])("it answers %j", (prompt, expected) => {
    expect(answerTo(requestOf(prompt))).toMatchObject({ calls: [], text: expected });
  });

  test("it introduces itself, and repeats the prompt, if no rule fits", () => {
    const { text } = answerTo(requestOf("How do you do?"));
    expect(text).toMatch(
      /^I am the demo model, a stand-in without a language model\. .* You said: How do you do\?$/,
    );
    expect(answerTo({ messages: [] }).text).toContain("You said nothing.");
  });

  test("it continues from its last answer", () => {
    const messages: Message[] = [
      { role: "user", content: "What is 25 + 17?" },
      { role: "assistant", content: "25 + 17 is 42." },
      { role: "user", content: [{ type: "text", text: "Multiply it by 2, then say it" }] },
    ];
    expect(answerTo({ messages }).text).toBe("42 * 2 is 84. 84");
  });
});

test.each([
  ["Fail.", { code: "model_server", status: 500 }],
  ["fail with 503", { code: "model_server", status: 503 }],
  ["Fail with 429", { code: "model_rate_limit", status: 429 }],
])("it fails on demand: %j", (prompt, error) => {
  expect(() => answerTo(requestOf(prompt))).toThrow(expect.objectContaining(error));
});

describe("a conversation", () => {
  test("with reformatted arguments is understood", () => {
    const messages: Message[] = [
      { role: "user", content: "What is 25 + 17?" },
      toolCall("call_1", "add", '{ "b": 17, "a": 25 }'),
      { role: "tool", tool_call_id: "call_1", content: '{"result": 42, "took": 3}' },
    ];
    expect(answerTo({ messages, tools })).toMatchObject({ calls: [], text: "25 + 17 is 42." });
  });

  test("with a failed tool ends with the tool's error", () => {
    const messages: Message[] = [
      { role: "user", content: "Add 25 and 17, then multiply it by 2." },
      toolCall("call_1", "add", '{"a":25,"b":17}'),
      { role: "tool", tool_call_id: "call_1", content: '{"error":"Out of paper","tool":"add"}' },
    ];
    expect(answerTo({ messages, tools })).toMatchObject({
      calls: [],
      text: "The tool add has failed: Out of paper.",
    });
  });

  test("with results of other calls ends", () => {
    const messages: Message[] = [
      { role: "user", content: "What is 25 + 17?" },
      toolCall("call_1", "other", "{}"),
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ];
    expect(answerTo({ messages, tools }).text).toContain("other says: done.");
  });

  test("gives each call a unique id", () => {
    const messages: Message[] = [
      { role: "user", content: "What is 25 + 17?" },
      toolCall("call_7", "add", '{"a":25,"b":17}'),
      { role: "tool", tool_call_id: "call_7", content: "42" },
      { role: "assistant", content: "25 + 17 is 42." },
      { role: "user", content: "What is 1 + 2 and what is 3 * 4?" },
    ];
    expect(answerTo({ messages, tools }).calls.map(({ id }) => id)).toEqual(["call_8", "call_9"]);
  });
});

describe("structured output", () => {
  const output = (properties: Record<string, JsonSchema>) => ({
    name: "answer",
    schema: { type: "object", properties, required: Object.keys(properties) },
  });
  const json = (prompt: string, properties: Record<string, JsonSchema>) =>
    JSON.parse(answerTo(requestOf(prompt, { output: output(properties) })).text);

  test("has the results in it", () => {
    expect(json("Add 1 and 2, then multiply by 10", { sum: number })).toEqual({ sum: 30 });
    expect(
      json("What is 1 + 2 and what is 3 * 4?", { a: number, b: number, text: { type: "string" } }),
    ).toEqual({
      a: 3,
      b: 12,
      text: "1 + 2 is 3. 3 * 4 is 12.",
    });
  });

  test("is made of the prompt if there are no results", () => {
    expect(
      json("Tim is 31 years old.", { age: { type: "integer" }, mood: { enum: ["new", "old"] } }),
    ).toEqual({
      age: 31,
      mood: "old",
    });
  });

  test("is an object with `answer` for json_object", () => {
    const settings = { extraBody: { response_format: { type: "json_object" } } };
    expect(JSON.parse(answerTo(requestOf("Say hello", { settings })).text)).toEqual({ answer: "hello" });
  });
});

describe("for any prompt and tools", () => {
  // biome-ignore format: a list of words
  const words = fc.constantFrom(
    "add", "1", "2.5", "and", "then", "what", "is", "+", "*", "(", ")", "it", "search", "for", "find", '"', "say", ":",
    "time", "?", ".", "\n", "weather", "in", "Paris", "by", "multiply", "from", "the", "tool_1",
  );
  const prompts = fc.oneof(
    fc.array(words, { maxLength: 40 }).map((all) => all.join(" ")),
    fc.string({ unit: "binary", maxLength: 200 }),
  );
  const schemas = fc.oneof(
    fc
      .dictionary(
        fc.constantFrom("a", "b", "expression", "op", "__proto__"),
        fc.constantFrom(number, { type: "string" }, { enum: ["add", "x"] }),
      )
      .map((properties) => ({ type: "object", properties, required: Object.keys(properties) })),
    fc.jsonValue(),
  );
  const anyTools = fc.array(
    fc.record({
      type: fc.constant("function" as const),
      function: fc.record({
        name: fc.constantFrom("add", "sum", "get_time", "search", "echo", "weather", "tool_1", "calculate"),
        description: fc.string(),
        parameters: schemas.map((schema) => schema as JsonSchema),
      }),
    }),
    { maxLength: 4 },
  );
  const choices = fc.constantFrom<NonNullable<ModelRequest["toolChoice"]>>("auto", "none", "required", {
    name: "add",
  });

  test.each(["say it", 'say ""', "repeat it"])(
    "%s has an answer also where there is nothing to say",
    (prompt) => {
      expect(answerTo(requestOf(prompt)).text).not.toBe("");
    },
  );

  test("it gives the same answer each time, with arguments that fit", () => {
    fc.assert(
      fc.property(prompts, anyTools, choices, (prompt, tools, toolChoice) => {
        const request = requestOf(prompt, { tools, toolChoice });
        const answer = answerTo(request);
        expect(answerTo(request)).toEqual(answer);
        expect(answer.thought).not.toBe("");
        expect(answer.calls.length > 0 || answer.text !== "").toBe(true);
        const hasCalls = answer.calls.length > 0;
        expect(hasCalls).toBe(
          toolChoice === "required" ? tools.length > 0 : hasCalls && toolChoice !== "none",
        );
        const isMadeUp = typeof toolChoice === "object" || toolChoice === "required";
        const misfits = answer.calls.filter((call) => !tools.some((tool) => fits(tool, call)));
        expect(isMadeUp ? [] : misfits).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("a conversation ends, whatever the tools return", () => {
    fc.assert(
      fc.property(prompts, anyTools, fc.array(fc.string(), { minLength: 1 }), (prompt, tools, results) => {
        const messages: Message[] = [{ role: "user", content: prompt }];
        for (let turn = 0; turn <= 100; turn += 1) {
          const { calls, text } = answerTo({ messages, tools });
          if (calls.length === 0) return text !== "";
          const tool_calls = calls.map(({ id, ...rest }) => ({
            id,
            type: "function" as const,
            function: rest,
          }));
          messages.push({ role: "assistant", content: null, tool_calls });
          for (const [index, { id }] of calls.entries())
            messages.push({
              role: "tool",
              tool_call_id: id,
              content: results[(turn + index) % results.length] ?? "",
            });
        }
        return false;
      }),
    );
  });
});

function toolCall(id: string, name: string, text: string): Message {
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: text } }],
  };
}

/** Whether a call is one of a tool, with arguments for it; where the tool does not say what it takes, with any. */
function fits(
  { function: { name, parameters } }: (typeof tools)[number],
  call: { name: string; arguments: string },
) {
  if (name !== call.name) return false;
  return !isPlainObject(parameters) || compileJsonSchema(parameters)(JSON.parse(call.arguments)).length === 0;
}
