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

  test("when the tool is not allowed, and it was not offered", async () => {
    expect(await rejected({ name: "fail" }, { isAllowed: (it) => it === add })).toMatchObject({
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

  test("when it is not approved", async () => {
    const canUseTool = async () => ({ continue: false, reason: "ask me first" });
    expect(await rejected(callAdd, { canUseTool })).toMatchObject({
      reason: "denied",
      error: "Tool use denied: ask me first",
    });
  });

  test("when a function that is not async does not approve it", async () => {
    const canUseTool = (() => ({ continue: false })) as never;
    expect(await rejected(callAdd, { canUseTool })).toMatchObject({ reason: "denied" });
  });

  test("when a hook blocks it", async () => {
    const beforeCall = async () => ({ continue: false, reason: "too risky" });
    expect(await rejected(callAdd, { beforeCall })).toMatchObject({
      reason: "blocked",
      error: "Tool use blocked: too risky",
    });
  });

  test("when a modified input does not fit", async () => {
    const beforeCall = async () => ({ modifiedInput: { a: 1 } });
    expect(await rejected(callAdd, { beforeCall })).toMatchObject({ reason: "invalid" });
  });
});

test("a rejected call keeps its arguments in the conversation, if they can be read", async () => {
  using model = scriptedModel([{ calls: [callAdd, { name: "add", arguments: "one and two" }] }, "Sorry."]);
  const messages: Message[] = [];
  await eventsOf(prompt, {
    model,
    tools: [add],
    beforeCall: async () => ({ continue: false }),
    onMessage: (message) => messages.push(message),
  });
  expect(messages[0]).toMatchObject({
    tool_calls: [{ function: { arguments: '{"a":1,"b":2}' } }, { function: { arguments: "{}" } }],
  });
});

describe("checks of a call", () => {
  test("come in the order valid, canUseTool, beforeCall; each sees what the one before has changed", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Done."]);
    const seen: unknown[] = [];
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      canUseTool: async ({ input }) => {
        seen.push(["canUseTool", input]);
        return { modifiedInput: { a: 10, b: 20 } };
      },
      beforeCall: async ({ input, name, id }) => {
        seen.push(["beforeCall", input, name, id]);
        return { modifiedInput: { ...input, b: 32 } };
      },
    });
    expect(seen).toEqual([
      ["canUseTool", { a: 1, b: 2 }],
      ["beforeCall", { a: 10, b: 20 }, "add", "call_1"],
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: "call.ready", input: { a: 10, b: 32 } }));
    expect(events).toContainEqual(expect.objectContaining({ type: "tool.finished", result: 42 }));
  });

  test("that throw end the run", async () => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }]);
    const messages: Message[] = [];
    const beforeCall = async () => {
      throw new Error("hook failed");
    };
    const options = {
      model,
      tools: [add],
      beforeCall,
      onMessage: (message: Message) => void messages.push(message),
    };
    await expect(eventsOf(prompt, options)).rejects.toThrow("hook failed");
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
