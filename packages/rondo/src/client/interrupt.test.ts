// interrupt() comes from elsewhere, at any moment: what is being received or sent ends, and all is in order.

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { query, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { Client } from "./client.ts";

const never = () => new Promise<never>(() => {});
/** Takes its time to clean up. */
const slow = tool(
  { name: "slow", description: "Waits.", input: {}, registry: false },
  async (_input, { signal }) => {
    await sleep(10_000, undefined, { signal }).catch(() => sleep(20));
    signal.throwIfAborted();
  },
);
const twoCalls = { text: "So.", calls: [{ name: "slow" }, { name: "slow" }] };

async function receiveAll(client: Client): Promise<void> {
  for await (const _ of client.receiveMessages());
}

describe("interrupt() while another task receives", () => {
  test.each(["a tool runs", "a person is asked"])(
    "%s: its loop ends with a complete history",
    async (what) => {
      using model = scriptedModel([twoCalls, "Second."]);
      const client = new Client({
        model,
        tools: [slow],
        autoExecuteTools: true,
        ...(what === "a person is asked" && { canUseTool: never }),
      });
      await client.query("First");
      setTimeout(() => void client.interrupt(), 20);
      await receiveAll(client);
      expect(client.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
      expect(client.stopReason).toBe("aborted");
      await client.query("Second");
      await receiveAll(client);
      expect(client.result?.text).toBe("Second.");
    },
  );

  test("a hook that never ends holds neither the loop nor the client", async () => {
    using model = scriptedModel([{ calls: [{ name: "quick" }] }, "Second."]);
    const quick = tool("quick", "Quick.", {}, () => 1);
    const client = new Client({
      model,
      tools: [quick],
      autoExecuteTools: true,
      hooks: { post_tool_use: [never] },
    });
    await client.query("First");
    setTimeout(() => void client.interrupt(), 20);
    await receiveAll(client);
    await client.query("Second");
    await receiveAll(client);
    expect(client.result?.text).toBe("Second.");
  });

  test("while an answer is checked: nothing more is asked, and no error comes of it", async () => {
    using model = scriptedModel([{ calls: [{ name: "final_answer", input: { x: 1 } }] }], {
      profile: { outputMode: "tool" },
    });
    const jsonSchema = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
    const output = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async () => {
          await sleep(20);
          return { issues: [{ message: "too small" }] };
        },
        jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
      },
    } as const;
    const client = new Client({ model, output });
    await client.query("Answer");
    const receiving = receiveAll(client);
    while (client.history.length < 2) await sleep(5);
    await client.interrupt();
    await receiving;
    expect(client.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(client.stopReason).toBe("aborted");
  });
});

describe("interrupt() while query() is on its way", () => {
  test.each(["at once", "while a hook takes its time"])("%s: nothing is sent", async (when) => {
    using model = scriptedModel([{ text: "First." }]);
    const hooks = { user_prompt_submit: when === "at once" ? [] : [never] };
    const client = new Client({ model, hooks });
    const asking = client.query("Hi");
    if (when !== "at once") await sleep(10);
    await client.interrupt();
    await asking;
    await receiveAll(client);
    expect(client.history).toEqual([]);
    expect(client.result).toEqual({ text: "", output: undefined, usage: undefined, stopReason: "aborted" });
    expect(client.turnMetadata.turnCount).toBe(0);
    expect(model.requests).toHaveLength(0);
    const other = new Client({ model });
    await other.query("Hi");
    await receiveAll(other);
  });

  test.each(["before", "after"])("a query that is interrupted %s it begins asks nothing", async (when) => {
    using model = scriptedModel([]);
    const answer = query({ prompt: "Hi", options: { model } });
    const early = when === "after" ? answer.result() : undefined;
    await answer.interrupt();
    expect((await (early ?? answer.result())).stopReason).toBe("aborted");
    expect(model.requests).toHaveLength(0);
  });
});
