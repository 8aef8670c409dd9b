// What answers cost that did not end: nobody reports it.

import { expect, test } from "vitest";
import { Client } from "../client/client.ts";
import type { Usage } from "../model/provider.ts";
import { scriptedModel } from "../testing/index.ts";
import { run } from "./run.ts";
import { add, callAdd, last, prompt } from "./testkit/loop-kit.ts";

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const never = new Promise<never>(() => {});
const halfAnswer = { text: ["Half of", " an answer", never] };

test("an interrupted answer is estimated and marked, in its event and in the sum", async () => {
  using model = scriptedModel([{ calls: [callAdd], usage }, halfAnswer]);
  const stop = new AbortController();
  const told: Usage[] = [];
  const events = [];
  for await (const event of run(prompt, {
    model,
    tools: [add],
    signal: stop.signal,
    onUsage: (it) => told.push(it),
  })) {
    events.push(event);
    if (event.type === "text.delta" && event.text === " an answer") stop.abort();
  }
  expect(told).toEqual([usage, expect.objectContaining({ estimated: true })]);
  const [, cut] = told as [Usage, Usage];
  expect(cut.outputTokens).toBeGreaterThanOrEqual(3);
  expect(events.findLast(({ type }) => type === "model.finished")).toMatchObject({ usage: cut });
  const totalTokens = usage.totalTokens + cut.totalTokens;
  expect(last(events)).toMatchObject({ reason: "aborted", usage: { totalTokens, estimated: true } });
});

test("one that fails in the middle is estimated, one that never began is not", async () => {
  const error = new Error("gone");
  const told: Usage[] = [];
  for (const answer of [{ error }, { chunks: [{ type: "warning", message: "Again." } as const], error }]) {
    using model = scriptedModel([answer]);
    const events = run(prompt, { model, onUsage: (it) => told.push(it) });
    await expect(Array.fromAsync(events)).rejects.toBe(error);
  }
  expect(told).toEqual([]);
  using model = scriptedModel([{ text: "Half", error }]);
  await expect(Array.fromAsync(run(prompt, { model, onUsage: (it) => told.push(it) }))).rejects.toBe(error);
  expect(told).toMatchObject([{ estimated: true }]);
});

test("the pieces of a call that was left count too", async () => {
  using model = scriptedModel([
    {
      chunks: [
        { type: "call.started", id: "1", name: "add" },
        { type: "call.delta", id: "1", text: '{"a": 1234567, "b": 7654321' },
        { type: "text.delta", text: "." },
        never,
      ],
    },
  ]);
  const told: Usage[] = [];
  for await (const { type } of run(prompt, { model, tools: [add], onUsage: (it) => told.push(it) }))
    if (type === "text.delta") break;
  expect(told).toHaveLength(1);
  expect(told[0]?.outputTokens).toBeGreaterThan(8);
});

test("a client that is interrupted says what the answer cost so far", async () => {
  using model = scriptedModel([halfAnswer]);
  const client = new Client({ model });
  await client.query("Go");
  for await (const _ of client.receiveMessages()) break;
  expect(client.result).toMatchObject({ stopReason: "aborted", usage: { estimated: true } });
  expect(client.result?.usage?.totalTokens).toBeGreaterThan(4);
});
