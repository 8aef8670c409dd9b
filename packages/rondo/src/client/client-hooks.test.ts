import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Message, setLogger, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { add, ask, blocksOf, callAdd, clientFor, kinds, roles } from "./testkit/client-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("permissions", () => {
  const auto = { autoExecuteTools: true };

  test("allowedTools and disallowedTools decide what is offered", async () => {
    using model = scriptedModel(["Hello.", "Hello."]);
    await ask(clientFor(model, { allowedTools: ["add"] }), "Hi");
    await ask(clientFor(model, { disallowedTools: ["add"] }), "Hi");
    expect(model.requests.map((it) => it.tools?.map((offered) => offered.function.name))).toEqual([
      ["add"],
      ["fail"],
    ]);
  });

  test("canUseTool approves, denies or changes a call, sync or async", async () => {
    using model = scriptedModel([{ calls: [callAdd, { name: "fail" }] }, "Done."]);
    const client = clientFor(model, {
      ...auto,
      canUseTool: async ({ name }) => (name === "fail" ? false : { modifiedInput: { a: 1, b: 1 } }),
    });
    const blocks = await ask(client, "Go");
    expect(blocks).toContainEqual({
      type: "tool_result",
      tool_use_id: "call_1",
      name: "add",
      content: 2,
      is_error: false,
    });
    expect(blocks).toContainEqual(
      expect.objectContaining({ type: "tool_use_error", error: "Tool use denied: no reason was given" }),
    );
  });

  test("contradictory or misspelt options are refused", () => {
    using model = scriptedModel([]);
    const make = (options: object) => () => clientFor(model, options);
    expect(make({ allowedTools: ["add"], disallowedTools: ["add"] })).toThrow(
      "none of the tools that are in allowedTools",
    );
    expect(make({ tools: [add, add] })).toThrow("Duplicate tool name: add");
    expect(make({ temperature: 3 })).toThrow("temperature: expected a number from 0 to 2, got 3");
    expect(make({ maxTokens: 0 })).toThrow("maxTokens: expected a whole number from 1, got 0");
    expect(make({ maxTurns: 0 })).toThrow("maxTurns");
    expect(make({ maxRepeats: 0 })).toThrow("maxRepeats: expected a whole number from 1");
    expect(make({ baseURL: "http://localhost:1/v1" })).toThrow("baseURL: expected nothing");
    expect(make({ model: 5 })).toThrow("model: expected a model");
    expect(make({ hooks: { pre_tool: [] } })).toThrow("hooks: expected one of pre_tool_use");
    expect(make({ hooks: { pre_tool_use: [5] } })).toThrow(
      "hooks.pre_tool_use[0]: expected a function, got 5",
    );
    expect(make({ system: "x" })).toThrow("options.system: expected one of the options");
    expect(make({ disallowedTools: ["ad"] })).toThrow(
      'disallowedTools[0]: expected one of the tools: add, fail, got "ad"',
    );
    expect(make({ temperature: 1, settings: { temperature: 0 } })).toThrow(
      "settings.temperature: expected nothing",
    );
  });
});

describe("hooks", () => {
  const auto = { autoExecuteTools: true };

  test("user_prompt_submit can change the prompt, also in history", async () => {
    using model = scriptedModel(["Fine."]);
    const client = clientFor(model, {
      hooks: { user_prompt_submit: [async ({ prompt }) => ({ modifiedPrompt: `${prompt} (safely)` })] },
    });
    await ask(client, "Delete it");
    expect(client.history[0]).toEqual({ role: "user", content: "Delete it (safely)" });
  });

  test("user_prompt_submit can block: nothing is sent or stored", async () => {
    using model = scriptedModel([]);
    const client = clientFor(model, {
      hooks: { user_prompt_submit: [() => ({ continue: false, reason: "no" })] },
    });
    await expect(client.query("Hi")).rejects.toThrow("Prompt blocked: no");
    expect(client.history).toEqual([]);
  });

  test('an empty modification counts, a missing one does not; query("") calls no hook', async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Fine."]);
    let prompts = 0;
    const client = clientFor(model, {
      hooks: {
        user_prompt_submit: [
          () => {
            prompts += 1;
            return { modifiedPrompt: "" };
          },
        ],
      },
    });
    await ask(client, "Go");
    expect(client.history[0]).toEqual({ role: "user", content: "" });
    await client.addToolResult("call_1", 42);
    await ask(client, "");
    expect(prompts).toBe(1);
  });

  test("pre_tool_use can block: one error block, and an error result for the model", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Sorry."]);
    const client = clientFor(model, {
      ...auto,
      hooks: { pre_tool_use: [() => ({ continue: false, reason: "risky" })] },
    });
    const blocks = await ask(client, "Go");
    expect(kinds(blocks)).toEqual(["tool_use_error", "text"]);
    expect(blocks[0]).toMatchObject({ error: "Tool use blocked: risky" });
    expect(client.history[2]?.content).toContain("Tool use blocked: risky");
  });

  test("pre_tool_use can change the input in both modes, also to an empty one", async () => {
    const none = tool(
      "none",
      "Takes nothing.",
      { note: { type: "string", optional: true } },
      ({ note }) => note ?? "none",
    );
    const hooks = { pre_tool_use: [() => ({ modifiedInput: {} })] };
    using manual = scriptedModel([{ calls: [{ name: "none", input: { note: "x" } }] }]);
    expect(await ask(clientFor(manual, { tools: [none], hooks }), "Go")).toEqual([
      { type: "tool_use", id: "call_1", name: "none", input: {} },
    ]);
    using model = scriptedModel([{ calls: [{ name: "none", input: { note: "x" } }] }, "Done."]);
    expect(await ask(clientFor(model, { tools: [none], hooks, ...auto }), "Go")).toContainEqual(
      expect.objectContaining({ type: "tool_result", content: "none" }),
    );
  });

  test("run in order until one decides", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Done."]);
    const seen: string[] = [];
    const note = (name: string, decision?: object) => async () => {
      seen.push(name);
      return decision;
    };
    await ask(
      clientFor(model, {
        ...auto,
        hooks: { pre_tool_use: [note("one"), note("two", { continue: true }), note("three")] },
      }),
      "Go",
    );
    expect(seen).toEqual(["one", "two"]);
  });

  test("post_tool_use sees the raw result and the history with it, in both modes, and changes nothing", async () => {
    const seen: unknown[] = [];
    const hooks = {
      post_tool_use: [
        (event: {
          toolName: string;
          toolInput: object;
          toolResult: unknown;
          toolUseId: string;
          history: Message[];
        }) => {
          seen.push([
            event.toolName,
            event.toolInput,
            event.toolResult,
            event.toolUseId,
            event.history.at(-1)?.role,
          ]);
          return { continue: false };
        },
      ],
    };
    using model = scriptedModel([{ calls: [callAdd, { name: "fail" }] }, "Done."]);
    await ask(clientFor(model, { ...auto, hooks }), "Go");
    using manual = scriptedModel([{ calls: [callAdd] }]);
    const client = clientFor(manual, { hooks });
    await ask(client, "Go");
    await client.addToolResult("call_1", { sum: 42 });
    expect(seen).toEqual([
      ["add", { a: 25, b: 17 }, 42, "call_1", "tool"],
      ["fail", {}, { error: "broken", tool: "fail" }, "call_2", "tool"],
      ["add", { a: 25, b: 17 }, { sum: 42 }, "call_1", "tool"],
    ]);
  });

  test("that throw end the run, and history stays valid", async () => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }, "Fine."]);
    let isBroken = true;
    const client = clientFor(model, {
      ...auto,
      hooks: {
        pre_tool_use: [
          () => {
            if (isBroken) throw new Error("hook failed");
          },
        ],
      },
    });
    await client.query("Go");
    await expect(blocksOf(client)).rejects.toThrow("hook failed");
    expect(roles(client.history)).toEqual(["user", "assistant"]);
    isBroken = false;
    await ask(client, "Again");
  });
});
