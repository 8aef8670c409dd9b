import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { addCall, newAnswer } from "./answer.ts";
import { run } from "./run.ts";
import { add, callAdd, eventsOf, fail, prompt } from "./testkit/loop-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("calls of one answer", () => {
  test("run at the same time, and are answered in their order", async () => {
    const order: string[] = [];
    const gates = new Map([1, 2, 3].map((n) => [n, Promise.withResolvers<void>()]));
    const wait = tool("wait", "Waits.", { n: Number }, async ({ n }) => {
      order.push(`start ${n}`);
      await gates.get(n)?.promise;
      order.push(`end ${n}`);
      return n;
    });
    using model = scriptedModel([{ calls: [1, 2, 3].map((n) => ({ name: "wait", input: { n } })) }, "Done."]);
    const finished: string[] = [];
    const done = (async () => {
      for await (const event of run(prompt, { model, tools: [wait] }))
        if (event.type === "tool.finished") finished.push(event.message.content);
    })();
    await expect.poll(() => order).toEqual(["start 1", "start 2", "start 3"]);
    for (const n of [3, 2, 1]) gates.get(n)?.resolve();
    await done;
    expect(order.slice(3)).toEqual(["end 3", "end 2", "end 1"]);
    expect(finished).toEqual(["1", "2", "3"]);
  });

  test("run one after the other where they must", async () => {
    const order: string[] = [];
    const step = tool("step", "Steps.", { n: Number }, async ({ n }) => {
      order.push(`start ${n}`);
      await Promise.resolve();
      order.push(`end ${n}`);
    });
    using model = scriptedModel([{ calls: [1, 2].map((n) => ({ name: "step", input: { n } })) }, "Done."]);
    await eventsOf(prompt, { model, tools: [step], parallelToolCalls: false });
    expect(order).toEqual(["start 1", "end 1", "start 2", "end 2"]);
  });

  test("one after the other give each result before the next starts", async () => {
    const step = tool("step", "Steps.", { n: Number }, async ({ n }) => n);
    using model = scriptedModel([{ calls: [1, 2].map((n) => ({ name: "step", input: { n } })) }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [step], parallelToolCalls: false });
    expect(events.flatMap(({ type }) => (type.startsWith("tool.") ? [type] : []))).toEqual([
      "tool.started",
      "tool.finished",
      "tool.started",
      "tool.finished",
    ]);
  });

  test("get an id that no other call has, whatever ids the model made", () => {
    const answer = newAnswer();
    for (const id of ["x", "x", "x_2", "x", "x_2", "y"])
      addCall(answer, { id, name: "add", arguments: "{}", isTruncated: false });
    expect(answer.calls.map(({ id }) => id)).toEqual(["x", "x_2", "x_2_2", "x_3", "x_2_3", "y"]);
  });

  test("with the same id get ids and idempotency keys of their own", async () => {
    const keys: string[] = [];
    const pay = tool("pay", "Pays.", { n: Number }, async ({ n }, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return n;
    });
    const calls = [1, 2, 3].map((n) => ({ id: "same", name: "pay", input: { n } }));
    using model = scriptedModel([{ calls }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [pay], turnIdFor: (id) => `run:${id}` });
    expect(new Set(keys)).toEqual(new Set(["run:same", "run:same_2", "run:same_3"]));
    const answered = model.requests[1]?.messages.flatMap((it) =>
      it.role === "tool" ? [[it.tool_call_id, it.content]] : [],
    );
    expect(answered).toEqual([
      ["same", "1"],
      ["same_2", "2"],
      ["same_3", "3"],
    ]);
    expect(events.flatMap((it) => (it.type === "call.ready" ? [it.id] : []))).toEqual([
      "same",
      "same_2",
      "same_3",
    ]);
  });

  test("start only when tool.started was taken", async () => {
    let hasRun = false;
    const note = tool("note", "Notes.", {}, () => {
      hasRun = true;
    });
    using model = scriptedModel([{ calls: [{ name: "note" }] }, "Done."]);
    const events = run(prompt, { model, tools: [note] });
    for (let step = await events.next(); step.value?.type !== "tool.started"; step = await events.next());
    expect(hasRun).toBe(false);
    await events.next();
    expect(hasRun).toBe(true);
    for await (const _ of events);
  });

  test("stream their progress, and answer with their result", async () => {
    const build = tool("build", "Builds.", {}, async function* () {
      yield "50%";
      yield "100%";
      return { built: true };
    });
    using model = scriptedModel([{ calls: [{ name: "build" }] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [build] });
    expect(events.filter(({ type }) => type.startsWith("tool."))).toMatchObject([
      { type: "tool.started" },
      { type: "tool.progress", value: "50%" },
      { type: "tool.progress", value: "100%" },
      { type: "tool.finished", result: { built: true }, message: { content: '{"built":true}' } },
    ]);
  });

  test("do not run ahead of who takes their progress", async () => {
    let produced = 0;
    const count = tool("count", "Counts.", {}, async function* () {
      for (let n = 1; n <= 100; n += 1) {
        produced = n;
        yield n;
      }
    });
    using model = scriptedModel([{ calls: [{ name: "count" }] }, "Done."]);
    let ahead = 0;
    for await (const event of run(prompt, { model, tools: [count] })) {
      if (event.type !== "tool.progress") continue;
      await new Promise((resolve) => setImmediate(resolve));
      ahead = Math.max(ahead, produced - (event.value as number));
    }
    expect([produced, ahead]).toEqual([100, 0]);
  });

  test("that fail are answered with the error, and the run goes on", async () => {
    using model = scriptedModel([{ calls: [{ name: "fail" }, callAdd] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [add, fail] });
    expect(events.filter(({ type }) => type === "tool.finished")).toMatchObject([
      {
        isError: true,
        result: { error: "broken", tool: "fail" },
        message: { content: '{"error":"broken","tool":"fail"}' },
      },
      { isError: false, result: 3 },
    ]);
  });

  test("of subtools go by the name that models see", async () => {
    const users = tool("users", "Users.", {}, () => "users");
    users.subtool(
      { name: "create", description: "Create.", input: { name: String } },
      async ({ name }) => `made ${name}`,
    );
    using model = scriptedModel([{ calls: [{ name: "users__create", input: { name: "Ada" } }] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [users] });
    expect(events).toContainEqual(expect.objectContaining({ type: "call.ready", name: "users.create" }));
    expect(events).toContainEqual(expect.objectContaining({ type: "tool.finished", result: "made Ada" }));
    expect(model.requests[0]?.tools?.map((it) => it.function.name)).toEqual(["users", "users__create"]);
  });
});

describe("a result is told to the model", () => {
  const cyclic: Record<string, unknown> = { name: "x" };
  cyclic["self"] = cyclic;
  cyclic["list"] = [1, 2n];

  test.each([
    ["text as it is", "plain", "plain"],
    ["a number as JSON", 0, "0"],
    ["null as JSON", null, "null"],
    ["nothing as null", undefined, "null"],
    ["a list as JSON", [1, "a"], '[1,"a"]'],
    [
      "MCP's text blocks as their text",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    [
      "MCP's other blocks as notes",
      {
        content: [
          { type: "text", text: "Here:" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
          { type: "audio", data: "A".repeat(4000) },
          { type: "resource_link", uri: "file:///a", name: "A", description: "the first" },
          { type: "resource", resource: { uri: "file:///b", text: "inside" } },
          { type: "resource", resource: { uri: "file:///c", blob: "AA==", mimeType: "application/pdf" } },
        ],
      },
      "Here:\n[image, image/png, 3 bytes: not shown]\n[audio, of an unknown type, 3 kB: not shown]\n" +
        "[link: A – file:///a – the first]\ninside\n[resource file:///c, application/pdf, 1 bytes: not shown]",
    ],
    [
      "MCP's structure as JSON, if it is all there is",
      { content: [], structuredContent: { a: 1 } },
      '{"a":1}',
    ],
    ["content of another shape as JSON", { content: [{ type: "mail" }] }, '{"content":[{"type":"mail"}]}'],
    ["a bigint as text", 10n, '"10"'],
    ["a cycle as far as it goes", cyclic, '{"name":"x","self":"(itself)","list":[1,"2"]}'],
  ])("%s", async (_how, value, content) => {
    const give = tool("give", "Gives.", {}, () => value as unknown);
    using model = scriptedModel([{ calls: [{ name: "give" }] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [give] });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tool.finished",
        isError: false,
        message: expect.objectContaining({ content }),
      }),
    );
  });

  test("as an error, if it is MCP's and says so", async () => {
    const give = tool("give", "Gives.", {}, () => ({
      content: [{ type: "text", text: "no such file" }],
      isError: true,
    }));
    using model = scriptedModel([{ calls: [{ name: "give" }] }, "Done."]);
    expect(await eventsOf(prompt, { model, tools: [give] })).toContainEqual(
      expect.objectContaining({ type: "tool.finished", isError: true }),
    );
  });
});
