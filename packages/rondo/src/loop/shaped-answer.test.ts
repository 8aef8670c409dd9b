import { describe, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import type { ModelProfile } from "../model/profile.ts";
import { type ScriptedStep, scriptedModel } from "../testing/index.ts";
import { tool } from "../tool/define.ts";
import type { LoopEvent } from "./events.ts";
import { run } from "./run.ts";
import { shapedText } from "./shaped-answer.ts";

const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;
const output = { name: "answer", schema };
const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a + b);
const call = { name: "add", arguments: '{"a":1,"b":2}' };
const last = { shapeWithTools: "last" } satisfies Partial<ModelProfile>;

async function runWith(script: readonly ScriptedStep[], profile: Partial<ModelProfile> = last) {
  const model = scriptedModel(script, { profile });
  const events: LoopEvent[] = await Array.fromAsync(
    run([{ role: "user", content: "1 + 2?" }], { model, tools: [add], output }),
  );
  const deltas = (type: "text.delta" | "thinking.delta") =>
    events.map((event) => (event.type === type ? event.text : "")).join("");
  return { model, events, text: deltas("text.delta"), thinking: deltas("thinking.delta") };
}

describe("a shape beside tools, on a server whose grammar forbids calls", () => {
  test("is requested when the model calls none any more, with the same tools", async () => {
    const { model, events, text } = await runWith([{ calls: [call] }, "The sum is 3.", '{"sum":3}']);
    model.assertUsedUp();
    const requests = model.requests.map((it) => [it.tools?.length, it.toolChoice, it.output?.name]);
    expect(requests).toEqual([
      [1, undefined, undefined],
      [1, undefined, undefined],
      [1, "none", "answer"],
    ]);
    expect(text).toBe('{"sum":3}');
    const answers = events.filter(({ type }) => type === "model.finished");
    expect(answers).toHaveLength(2);
    expect(events.filter(({ type }) => type === "model.started")).toHaveLength(2);
    // The draft is not part of the conversation, but it has cost tokens.
    expect(model.requests[2]?.messages).toHaveLength(3);
  });

  test("is not requested again from an answer that has it", async () => {
    const { model, text } = await runWith([{ calls: [call] }, '```json\n{"sum": 3}\n```']);
    model.assertUsedUp();
    expect(text).toBe('{"sum": 3}');
  });

  test("leaves text beside calls out of the answer", async () => {
    const { text, thinking, events } = await runWith([{ text: "I will add.", calls: [call] }, '{"sum":3}']);
    expect([text, thinking]).toEqual(['{"sum":3}', "I will add."]);
    const answer = events.find((event) => event.type === "model.finished");
    expect(answer?.message.content).toBe("I will add.");
  });

  test("counts the tokens of both requests", async () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    const { events } = await runWith([
      { text: "The sum is 3.", usage },
      { text: '{"sum":3}', usage },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "run.finished", usage: { totalTokens: 30 } });
  });

  test("is requested at once without tools, and where the profile says so", async () => {
    const { model } = await runWith(['{"sum":3}'], { shapeWithTools: "together" });
    expect(model.requests[0]).toMatchObject({ output, tools: [{}] });
    const alone = scriptedModel(['{"sum":3}'], { profile: last });
    await Array.fromAsync(run([{ role: "user", content: "1 + 2?" }], { model: alone, output }));
    expect(alone.requests[0]).toMatchObject({ output });
  });

  test("an interrupted draft is not an answer", async () => {
    const controller = new AbortController();
    const never = new Promise<never>(() => {});
    const model = scriptedModel([{ text: ["The ", never] as never }], { profile: last });
    const events: LoopEvent[] = [];
    const options = { model, tools: [add], output, signal: controller.signal };
    for await (const event of run([{ role: "user", content: "1 + 2?" }], options)) {
      events.push(event);
      if (event.type === "model.started") controller.abort();
    }
    expect(events.map(({ type }) => type)).toEqual(["model.started", "run.finished"]);
  });
});

test.each([
  ['{"sum":3}', '{"sum":3}'],
  ['  {"sum":3}\n', '{"sum":3}'],
  ['```\n{"sum":3}\n```', '{"sum":3}'],
  ['{"sum":"3"}', undefined],
  ['The sum: {"sum":3}', undefined],
  ['{"sum":3', undefined],
  ["", undefined],
])("the shape is seen in %j only if nothing else is there", (text, expected) => {
  expect(shapedText(text, output)).toBe(expected);
});

test("a shape that cannot be enforced is said to be asked for in words", async () => {
  const { events } = await runWith(['{"sum":3}'], { outputMode: "prompt" });
  expect(events[0]).toMatchObject({ type: "warning", code: "shape_in_words" });
});

test("a client tells a shape that is enforced last in words, and gives the output", async () => {
  const model = scriptedModel([{ calls: [call] }, "It is 3.", '{"sum":3}'], { profile: last });
  const client = new Client({ model, tools: [add], autoExecuteTools: true, output: schema });
  await client.query("1 + 2?");
  for await (const _ of client.receiveMessages());
  expect(client.result).toMatchObject({ text: '{"sum":3}', output: { sum: 3 }, stopReason: "completed" });
  expect(client.result).not.toHaveProperty("warnings");
  expect(model.requests[0]?.messages[0]?.content).toMatch(
    /^When you need no more tools, answer with one JSON/,
  );
  expect(client.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});

test("a client's result tells that the shape was only asked for in words", async () => {
  const model = scriptedModel(['{"sum":3}'], { profile: { outputMode: "prompt" } });
  const client = new Client({ model, output: schema });
  await client.query("1 + 2?");
  for await (const _ of client.receiveMessages());
  expect(client.result?.warnings).toEqual([expect.stringContaining("in words")]);
});
