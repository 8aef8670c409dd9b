import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { setLogger } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { ask, blocksOf, callAdd, clientFor, kinds, roles } from "./testkit/client-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("structured output", () => {
  const output = z.object({ sum: z.number() });
  const native = { profile: { outputMode: "native" as const } };

  test("is validated and parsed", async () => {
    using model = scriptedModel(['{"sum": 42}'], native);
    const client = clientFor(model, { output });
    await ask(client, "Go");
    expect(client.result).toMatchObject({ output: { sum: 42 }, stopReason: "completed" });
    expect(model.requests[0]?.output).toMatchObject({ schema: { properties: { sum: { type: "number" } } } });
  });

  test("that does not fit is retried once, with the error", async () => {
    using model = scriptedModel(['{"total": 42}', '{"sum": 42}'], native);
    const client = clientFor(model, { output });
    await ask(client, "Go");
    expect(client.result?.output).toEqual({ sum: 42 });
    expect(model.requests[1]?.messages.at(-1)?.content).toContain("sum");
  });

  test("that does not fit twice is an error", async () => {
    using model = scriptedModel(["No.", "Never."], native);
    const client = clientFor(model, { output });
    await client.query("Go");
    await expect(blocksOf(client)).rejects.toMatchObject({ code: "invalid_output", text: "Never." });
  });

  test("is asked for in the system prompt where the server cannot enforce it", async () => {
    using model = scriptedModel(['Here:\n```json\n{"sum": 42}\n```'], { profile: { outputMode: "prompt" } });
    const client = clientFor(model, { output, systemPrompt: "Be brief." });
    await ask(client, "Go");
    expect(client.result?.output).toEqual({ sum: 42 });
    expect(model.requests[0]?.messages[0]?.content).toContain("JSON Schema");
  });

  test("through a tool that does not fit is retried once, without a block", async () => {
    using model = scriptedModel(
      [
        { calls: [{ name: "final_answer", input: { total: 42 } }] },
        { calls: [{ name: "final_answer", input: { sum: 42 } }] },
      ],
      { profile: { outputMode: "tool" } },
    );
    const client = clientFor(model, { output, tools: [] });
    expect(kinds(await ask(client, "Go")).filter((kind) => kind !== "tool_result")).toEqual([]);
    expect(client.result?.output).toEqual({ sum: 42 });
  });

  test("comes through a tool where the profile says so, also after other tools", async () => {
    using model = scriptedModel(
      [{ calls: [callAdd] }, { calls: [{ name: "final_answer", input: { sum: 42 } }] }],
      { profile: { outputMode: "tool" } },
    );
    const client = clientFor(model, { output, autoExecuteTools: true });
    const blocks = await ask(client, "Go");
    expect(kinds(blocks)).toEqual(["tool_use", "tool_result"]);
    expect(client.result).toMatchObject({ output: { sum: 42 }, stopReason: "completed" });
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  });
});
