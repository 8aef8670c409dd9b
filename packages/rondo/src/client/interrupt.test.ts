// interrupt() from another task, at any moment.

import { setImmediate as nextTick } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { query, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { Client } from "./client.ts";

/** Waits for ever; `begun` resolves when it is called. */
function endless() {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const wait = () => {
    resolve();
    return new Promise<never>(() => {});
  };
  return { begun, wait };
}
/** Ends only some ticks after its abort. */
function slowTool() {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const slow = tool(
    { name: "slow", description: "Waits.", input: {}, registry: false },
    async (_input, { signal }) => {
      resolve();
      await new Promise((aborted) => signal.addEventListener("abort", aborted));
      for (let tick = 0; tick < 5; tick += 1) await nextTick();
      signal.throwIfAborted();
    },
  );
  return { begun, slow };
}
const twoCalls = { text: "So.", calls: [{ name: "slow" }, { name: "slow" }] };

async function receiveAll(client: Client): Promise<void> {
  for await (const _ of client.receiveMessages());
}

describe("interrupt() while another task receives", () => {
  test.each(["a tool runs", "a person is asked"])(
    "%s: its loop ends with a complete history",
    async (what) => {
      using model = scriptedModel([twoCalls, "Second."]);
      const { slow, begun } = slowTool();
      const approval = endless();
      const client = new Client({
        model,
        tools: [slow],
        autoExecuteTools: true,
        ...(what === "a person is asked" && { canUseTool: approval.wait }),
      });
      await client.query("First");
      void Promise.race([begun, approval.begun]).then(() => client.interrupt());
      await receiveAll(client);
      expect(client.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
      expect(client.stopReason).toBe("aborted");
      await client.query("Second");
      await receiveAll(client);
      expect(client.result?.text).toBe("Second.");
    },
  );

  test("a hook that never ends blocks neither the loop nor the client", async () => {
    using model = scriptedModel([{ calls: [{ name: "quick" }] }, "Second."]);
    const quick = tool("quick", "Quick.", {}, () => 1);
    const hook = endless();
    const client = new Client({
      model,
      tools: [quick],
      autoExecuteTools: true,
      hooks: { post_tool_use: [hook.wait] },
    });
    await client.query("First");
    void hook.begun.then(() => client.interrupt());
    await receiveAll(client);
    await client.query("Second");
    await receiveAll(client);
    expect(client.result?.text).toBe("Second.");
  });

  test("while an output is validated: no second try, and no error", async () => {
    using model = scriptedModel([{ calls: [{ name: "final_answer", input: { x: 1 } }] }], {
      profile: { outputMode: "tool" },
    });
    const { promise: validating, resolve: begin } = Promise.withResolvers<void>();
    const { promise: interrupted, resolve: goOn } = Promise.withResolvers<void>();
    const jsonSchema = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
    const output = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async () => {
          begin();
          await interrupted;
          return { issues: [{ message: "too small" }] };
        },
        jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
      },
    } as const;
    const client = new Client({ model, output });
    await client.query("Answer");
    const receiving = receiveAll(client);
    await validating;
    await client.interrupt();
    goOn();
    await receiving;
    expect(client.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(client.stopReason).toBe("aborted");
  });
});

describe("interrupt() while query() is pending", () => {
  test.each(["at once", "while a hook takes its time"])("%s: nothing is sent", async (when) => {
    using model = scriptedModel([{ text: "First." }]);
    const hook = endless();
    const hooks = { user_prompt_submit: when === "at once" ? [] : [hook.wait] };
    const client = new Client({ model, hooks });
    const asking = client.query("Hi");
    if (when !== "at once") await hook.begun;
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

  test.each(["before", "after"])("a query that is interrupted %s it begins sends nothing", async (when) => {
    using model = scriptedModel([]);
    const answer = query({ prompt: "Hi", options: { model } });
    const early = when === "after" ? answer.result() : undefined;
    await answer.interrupt();
    expect((await (early ?? answer.result())).stopReason).toBe("aborted");
    expect(model.requests).toHaveLength(0);
  });
});
