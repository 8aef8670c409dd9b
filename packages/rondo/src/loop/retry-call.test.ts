import { describe, expect, test } from "vitest";
import { openaiCompatible } from "../model/chat-completions.ts";
import type { Message } from "../model/message.ts";
import { startModelServer } from "../testing/model-server.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { tool } from "../tool/define.ts";
import type { LoopOptions } from "./options.ts";
import { run } from "./run.ts";
import type { RunState } from "./state.ts";

const prompt: Message[] = [{ role: "user", content: "Add." }];
const add = tool(
  { name: "add", description: "Adds.", input: { a: Number, b: Number }, registry: false },
  async ({ a, b }) => a + b,
);
const look = tool({ name: "look", description: "Looks.", registry: false }, async () => "nothing");
const wrong = { name: "add", input: { a: "one", b: 2 } };
const right = { name: "add", input: { a: 1, b: 2 } };
const profile = { constrainsCalls: true };

async function choicesOf(script: Parameters<typeof scriptedModel>[0], options: Partial<LoopOptions> = {}) {
  using model = scriptedModel(script, { profile });
  for await (const _ of run(prompt, { model, tools: [add, look], ...options }));
  return model.requests.map(({ toolChoice }) => toolChoice);
}

describe("a call that does not fit its schema", () => {
  test("is asked for a second time under the schema of its tool, and then the model is free again", async () => {
    expect(await choicesOf([{ calls: [wrong] }, { calls: [right] }, "3."])).toEqual([
      undefined,
      { name: "add" },
      undefined,
    ]);
  });

  test("is asked for in this way once", async () => {
    expect(await choicesOf([{ calls: [wrong] }, { calls: [wrong] }, { calls: [wrong] }, "No."])).toEqual([
      undefined,
      { name: "add" },
      undefined,
      { name: "add" },
    ]);
  });

  test.each<[string, Parameters<typeof scriptedModel>[0]]>([
    ["another call beside it", [{ calls: [wrong, { name: "look" }] }, "Done."]],
    ["a tool that does not exist", [{ calls: [{ name: "nothing" }] }, "Done."]],
    [
      "a call that was cut off",
      [{ calls: [{ name: "add", arguments: '{"a":', isTruncated: true }] }, "Done."],
    ],
  ])("is not where the fault is %s", async (_what, script) => {
    expect(await choicesOf(script)).toEqual([undefined, undefined]);
  });

  test("is not where the server cannot do it, nor for a tool that was denied", async () => {
    using model = scriptedModel([{ calls: [wrong] }, "Done."]);
    for await (const _ of run(prompt, { model, tools: [add] }));
    expect(model.requests[1]?.toolChoice).toBeUndefined();
    const decideCall = () => ({ type: "reject", error: "No." }) as const;
    expect(await choicesOf([{ calls: [wrong] }, "Done."], { decideCall })).toEqual([undefined, undefined]);
  });

  test("is still asked for in this way when the run continues after a crash", async () => {
    using first = scriptedModel([{ calls: [wrong] }], { profile });
    const messages = [...prompt];
    let state: RunState | undefined;
    for await (const event of run(prompt, {
      model: first,
      tools: [add],
      onMessage: (it) => messages.push(it),
    })) {
      if ("state" in event) state = JSON.parse(JSON.stringify(event.state)) as RunState;
      if (event.type === "tool.finished") break;
    }
    using second = scriptedModel([{ calls: [right] }, "3."], { profile });
    for await (const _ of run(messages, { model: second, tools: [add], ...(state && { state }) }));
    expect(second.requests[0]?.toolChoice).toEqual({ name: "add" });
  });

  test("is asked for by the choice that the server knows", async () => {
    await using server = await startModelServer([{ calls: [wrong] }, { calls: [right] }, "3."]);
    const model = openaiCompatible({ baseURL: server.url, model: "test-model", profile });
    for await (const _ of run(prompt, { model, tools: [add] }));
    expect(server.requests[1]?.body.tool_choice).toEqual({ type: "function", function: { name: "add" } });
  });
});
