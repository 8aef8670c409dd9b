// Only a valid decision lets a call or a prompt pass.

import { describe, expect, test } from "vitest";
import { tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { Client } from "./client.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { name: "add", input: { a: 1, b: 2 } };

describe("an invalid decision", () => {
  test.each([{ behavior: "deny", message: "no" }, { continue: "no" }, undefined, "deny"])(
    "denies the call: canUseTool gives %j",
    async (decision) => {
      let hasRun = false;
      const spy = tool("spy", "Looks on.", {}, () => {
        hasRun = true;
      });
      using model = scriptedModel([{ calls: [{ name: "spy" }] }]);
      const client = new Client({
        model,
        tools: [spy],
        autoExecuteTools: true,
        canUseTool: () => decision as never,
      });
      await client.query("Look");
      await expect(Array.fromAsync(client.receiveMessages())).rejects.toThrow(/decision|canUseTool/);
      expect(hasRun).toBe(false);
    },
  );

  test("of a hook, in the terms of another library, denies calls and prompts", async () => {
    using model = scriptedModel([{ calls: [callAdd] }]);
    const other = () => ({ continue_: false }) as never;
    const calls = new Client({ model, tools: [add], hooks: { pre_tool_use: [other] } });
    await calls.query("Add");
    await expect(Array.fromAsync(calls.receiveMessages())).rejects.toThrow(
      "decision.continue_: expected one of the options continue",
    );
    const prompts = new Client({ model, hooks: { user_prompt_submit: [other] } });
    await expect(prompts.query("Hi")).rejects.toThrow("decision.continue_");
    expect(model.requests).toHaveLength(1);
  });
});
