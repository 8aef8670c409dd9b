import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { StandardSchema } from "../tool/standard-schema.ts";
import type { LoopOptions } from "./options.ts";
import { add, callAdd, eventsOf, fail, prompt } from "./testkit/loop-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("a call is rejected, and answered with why", () => {
  const rejected = async (call: object, options: Partial<LoopOptions> = {}) => {
    using model = scriptedModel([{ calls: [{ name: "add", ...call }] }, "Sorry."]);
    const messages = [...prompt];
    const events = await eventsOf(prompt, {
      model,
      tools: [add, fail],
      onMessage: (message) => messages.push(message),
      ...options,
    });
    expect(flawsOf(messages)).toEqual([]);
    const event = events.find(({ type }) => type === "call.rejected");
    expect(messages[2]?.content).toContain(JSON.stringify((event as { error: string }).error).slice(1, -1));
    return event;
  };

  test("when there is no such tool: the list of tools is told", async () => {
    expect(await rejected({ name: "subtract", input: {} })).toMatchObject({
      reason: "unknown",
      error: "Tool 'subtract' not found in registry. The tools are: add, fail.",
    });
  });

  test("when the choice is to call none, with arguments that fit and that do not", async () => {
    for (const input of [{ a: 1, b: 2 }, { a: "x" }])
      for (const decideCall of [undefined, () => undefined])
        expect(
          await rejected({ input }, { toolChoice: "none", ...(decideCall && { decideCall }) }),
        ).toMatchObject({
          reason: "not_allowed",
          error: "No tool may be used here. Answer without a call.",
        });
  });

  test("when it has no name, and says so", async () => {
    expect(await rejected({ name: "", input: { a: 1, b: 2 } })).toMatchObject({
      reason: "unknown",
      error: "The call has no name. The tools are: add, fail.",
    });
  });

  test("when the tool is not allowed, and it was not offered", async () => {
    expect(await rejected({ name: "fail" }, { isOffered: (it) => it === add })).toMatchObject({
      reason: "not_allowed",
    });
  });

  test("when the input does not fit: the path and what was expected", async () => {
    expect(await rejected({ input: { a: 1 } })).toMatchObject({
      reason: "invalid",
      error: expect.stringContaining("b: expected number, got nothing"),
    });
  });

  test("when the arguments are no JSON: quoted", async () => {
    expect(await rejected({ arguments: "one and two" })).toMatchObject({
      reason: "invalid",
      raw: "one and two",
      error: expect.stringContaining("Invalid JSON"),
    });
  });

  test.each<[string, boolean | undefined, boolean]>([
    ["the option", false, true],
    ["the model's profile", undefined, false],
  ])("when they would have to be repaired, and %s forbids it", async (_, option, ofProfile) => {
    const answers = [{ calls: [{ name: "add", arguments: "{'a': 1, 'b': 2}" }] }, "Sorry."];
    using model = scriptedModel(answers, { profile: { repairArguments: ofProfile } });
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      ...(option !== undefined && { repairArguments: option }),
    });
    expect(events.find(({ type }) => type === "call.rejected")).toMatchObject({
      reason: "invalid",
      error: expect.stringContaining("not valid JSON"),
    });
  });

  test.each(['{"a": 1e999, "b": 2}', `{"a": 1, "b": ${"[".repeat(20_000)}${"]".repeat(20_000)}}`])(
    "when no tool could use the number or the nesting: %.20s",
    async (text) => {
      expect(await rejected({ arguments: text })).toMatchObject({ reason: "invalid" });
    },
  );

  test("when the arguments were cut off: never run as a guess", async () => {
    expect(await rejected({ arguments: '{"a":1,"b":2', isTruncated: true })).toMatchObject({
      reason: "truncated",
    });
  });

  test("when megabytes of arguments were cut off: they are quoted in part", async () => {
    const event = await rejected({ arguments: `{"a":"${"x".repeat(2_000_000)}`, isTruncated: true });
    expect(event).toMatchObject({ error: expect.stringMatching(/They were: \{"a":"x{100,300}…$/) });
  });

  describe("when its check takes all of its budget", () => {
    const $defs: Record<string, object> = { d40: {} };
    for (let level = 0; level < 40; level++) {
      const $ref = `#/$defs/d${level + 1}`;
      $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
    }
    const input = { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs };
    const slow = tool("slow", "Has definitions that each refer to the next one twice.", input, () => "never");
    const calls = Array.from({ length: 4 }, (_, a) => ({ name: "slow", input: { a } }));

    test("others have their turn after each", async () => {
      using model = scriptedModel([{ calls }, "Sorry."]);
      let turns = 0;
      const timer = setInterval(() => turns++);
      const events = await eventsOf(prompt, { model, tools: [slow] });
      clearInterval(timer);
      expect(events.filter(({ type }) => type === "call.rejected")).toHaveLength(4);
      expect(turns).toBeGreaterThanOrEqual(4);
    });

    test("the run can be aborted before all are checked", async () => {
      using model = scriptedModel([{ calls }]);
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort());
      const events = await eventsOf(prompt, { model, tools: [slow], signal: abort.signal });
      clearTimeout(timer);
      expect(events.at(-1)).toMatchObject({ type: "run.finished", reason: "aborted" });
    });
  });

  test("when the input does not fit: it is checked once", async () => {
    let checks = 0;
    const schema: StandardSchema<{ a: number }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ issues: [{ message: `refused ${++checks}` }] }),
        jsonSchema: { input: () => ({ type: "object" }) },
      },
    };
    const picky = tool("add", "Takes nothing.", schema, () => "never");
    expect(await rejected({ input: { a: 1 } }, { tools: [picky] })).toMatchObject({ reason: "invalid" });
    expect(checks).toBe(1);
  });

  test("when it is decided so", async () => {
    const decideCall = async () => ({ type: "reject", error: "Ask me first." }) as const;
    expect(await rejected(callAdd, { decideCall })).toMatchObject({
      reason: "denied",
      error: "Ask me first.",
    });
  });

  test("when the input of a decision does not fit", async () => {
    const decideCall = () => ({ type: "run", input: { a: 1 } }) as const;
    expect(await rejected(callAdd, { decideCall })).toMatchObject({ reason: "invalid" });
  });

  test("also when it is decided to run what cannot", async () => {
    const decideCall = () => ({ type: "run" }) as const;
    expect(await rejected({ name: "nowhere" }, { decideCall })).toMatchObject({ reason: "unknown" });
  });
});

test("a rejected call keeps its arguments in the conversation, if they can be read", async () => {
  using model = scriptedModel([{ calls: [callAdd, { name: "add", arguments: "one and two" }] }, "Sorry."]);
  const messages: Message[] = [];
  await eventsOf(prompt, {
    model,
    tools: [add],
    decideCall: () => ({ type: "reject", error: "No." }),
    onMessage: (message) => messages.push(message),
  });
  expect(messages[0]).toMatchObject({
    tool_calls: [{ function: { arguments: '{"a":1,"b":2}' } }, { function: { arguments: "{}" } }],
  });
});

describe("checks of a call", () => {
  test("come before the decision, which sees the call as it would run and may change its input", async () => {
    using model = scriptedModel([{ calls: [callAdd, { name: "nowhere" }] }, "Done."]);
    const seen: unknown[] = [];
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      decideCall: async ({ id, name, tool, input, rejection, isOpen }) => {
        seen.push({ id, name, tool, input, reason: rejection?.reason, isOpen });
        return { type: "run", input: { a: 10, b: 32 } };
      },
    });
    expect(seen).toEqual([
      { id: "call_1", name: "add", tool: add, input: { a: 1, b: 2 }, reason: undefined, isOpen: false },
      { id: "call_2", name: "nowhere", tool: undefined, input: {}, reason: "unknown", isOpen: false },
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: "call.ready", input: { a: 10, b: 32 } }));
    expect(events).toContainEqual(expect.objectContaining({ type: "tool.finished", result: 42 }));
  });

  test.each([
    ["throws", () => Promise.reject(new Error("The decider failed."))],
    ["speaks the language of another library", () => ({ continue: false }) as never],
    ["rejects without a reason", () => ({ type: "reject" }) as never],
    ["gives a word", () => "deny" as never],
  ])("end the run when the decider %s", async (_, decideCall) => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }]);
    const messages: Message[] = [];
    const options = {
      model,
      tools: [add],
      decideCall,
      onMessage: (message: Message) => void messages.push(message),
    };
    await expect(eventsOf(prompt, options)).rejects.toThrow(/decide/);
    expect(flawsOf(messages)).toEqual([]);
  });

  test("find a name that is written a little differently", async () => {
    using model = scriptedModel([{ calls: [{ ...callAdd, name: "functions.Add" }] }, "Done."]);
    expect(await eventsOf(prompt, { model, tools: [add] })).toContainEqual(
      expect.objectContaining({ type: "tool.finished", result: 3 }),
    );
  });

  test("mend arguments whose meaning is beyond doubt", async () => {
    using model = scriptedModel([
      { calls: [{ name: "add", arguments: "```json\n{'a': 1, 'b': \"2\",}\n```" }] },
      "Done.",
    ]);
    expect(await eventsOf(prompt, { model, tools: [add] })).toContainEqual(
      expect.objectContaining({ type: "tool.finished", result: 3 }),
    );
  });
});
