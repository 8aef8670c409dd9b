import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { Message } from "../model/message.ts";
import type { ModelDelta, ModelRequest } from "../model/provider.ts";
import { ScriptError, type ScriptedModel, scriptedModel } from "./index.ts";

const user = (content: string): Message => ({ role: "user", content });
const hello: ModelRequest = { messages: [user("Hello")] };

function ask(model: ScriptedModel, request = hello): Promise<ModelDelta[]> {
  return Array.fromAsync(model.stream(request));
}

const finished = (finishReason = "stop") => ({ type: "finished", finishReason, usage: undefined });

describe("an answer", () => {
  test("streams thinking, then text, then calls, then its end", async () => {
    using model = scriptedModel([
      {
        thinking: ["Let me ", "see."],
        text: ["One", " moment."],
        calls: [{ name: "add", input: { a: 1 } }, { name: "now" }],
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      },
    ]);
    expect(await ask(model)).toEqual([
      { type: "thinking.delta", text: "Let me " },
      { type: "thinking.delta", text: "see." },
      { type: "text.delta", text: "One" },
      { type: "text.delta", text: " moment." },
      { type: "call.started", id: "call_1", name: "add" },
      { type: "call.delta", id: "call_1", text: '{"a":1}' },
      { type: "call.ended", id: "call_1", name: "add", arguments: '{"a":1}', isTruncated: false },
      { type: "call.started", id: "call_2", name: "now" },
      { type: "call.delta", id: "call_2", text: "{}" },
      { type: "call.ended", id: "call_2", name: "now", arguments: "{}", isTruncated: false },
      {
        type: "finished",
        finishReason: "tool_calls",
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      },
    ]);
  });

  test("may be just its text, or a function of the request", async () => {
    using model = scriptedModel([
      "Hi",
      ({ messages }) => `You sent ${messages.length}.`,
      async ({ messages }) => ({ text: `First: ${messages[0]?.role}` }),
    ]);
    expect(await ask(model)).toEqual([{ type: "text.delta", text: "Hi" }, finished()]);
    expect(await ask(model)).toEqual([{ type: "text.delta", text: "You sent 1." }, finished()]);
    expect(await ask(model)).toEqual([{ type: "text.delta", text: "First: user" }, finished()]);
  });

  test("counts its calls over all answers, and keeps ids and arguments that are given", async () => {
    using model = scriptedModel([
      { calls: [{ name: "a" }] },
      { calls: [{ name: "b", id: "mine", arguments: ['{"x"', ":"], isTruncated: true }, { name: "c" }] },
    ]);
    await ask(model);
    const deltas = await ask(model);
    expect(deltas.filter(({ type }) => type === "call.delta")).toEqual([
      { type: "call.delta", id: "mine", text: '{"x"' },
      { type: "call.delta", id: "mine", text: ":" },
      { type: "call.delta", id: "call_2", text: "{}" },
    ]);
    expect(deltas).toContainEqual({
      type: "call.ended",
      id: "mine",
      name: "b",
      arguments: '{"x":',
      isTruncated: true,
    });
  });

  test("may be deltas as they are, with or without their end", async () => {
    const warning: ModelDelta = { type: "warning", message: "odd" };
    const end: ModelDelta = { type: "finished", finishReason: "length", usage: undefined };
    using model = scriptedModel([{ chunks: [warning, end] }, { chunks: [warning] }]);
    expect(await ask(model)).toEqual([warning, end]);
    expect(await ask(model)).toEqual([warning, finished()]);
  });

  test("fails before the first delta, or after the last", async () => {
    const error = new Error("The model is gone.");
    using model = scriptedModel([{ error }, { text: "Half", error }]);
    await expect(ask(model)).rejects.toBe(error);
    const seen: ModelDelta[] = [];
    const reading = (async () => {
      for await (const delta of model.stream(hello)) seen.push(delta);
    })();
    await expect(reading).rejects.toBe(error);
    expect(seen).toEqual([{ type: "text.delta", text: "Half" }]);
    expect(model.requests.map(({ wasLeft }) => wasLeft)).toEqual([false, false]);
  });

  test("waits for its gates: before it begins, and between its pieces", async () => {
    const before = Promise.withResolvers<void>();
    const between = Promise.withResolvers<void>();
    using model = scriptedModel([{ waitFor: before.promise, text: ["a", between.promise, "b"] }]);
    const seen: string[] = [];
    const stream = model.stream(hello)[Symbol.asyncIterator]();
    const first = stream.next().then(() => seen.push("a"));
    await model.request(0);
    seen.push("opened");
    before.resolve();
    await first;
    const second = stream.next().then(() => seen.push("b"));
    seen.push("opened again");
    between.resolve();
    await second;
    expect(seen).toEqual(["opened", "a", "opened again", "b"]);
    expect(await stream.next()).toMatchObject({ value: finished() });
  });

  test("may be given every time", async () => {
    using model = scriptedModel(({ messages }) => `${messages.length}`);
    for (let round = 0; round < 3; round++)
      expect(await ask(model)).toEqual([{ type: "text.delta", text: "1" }, finished()]);
  });
});

describe("a request", () => {
  test("is kept as a deep copy", async () => {
    using model = scriptedModel(["Hi"]);
    const messages = [user("Hello")];
    await ask(model, { messages, settings: { stop: ["x"] }, toolChoice: "none" });
    messages.push(user("later"));
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]).toMatchObject({
      messages: [user("Hello")],
      settings: { stop: ["x"] },
      toolChoice: "none",
      wasLeft: false,
    });
  });

  test("that is never read from uses no answer", async () => {
    using model = scriptedModel(["Hi"]);
    model.stream(hello);
    expect(await ask(model)).toHaveLength(2);
  });

  test("records that it was left, between pieces and while it waits", async () => {
    using model = scriptedModel([{ text: ["a", "b"] }, { waitFor: new Promise(() => {}) }]);
    for await (const delta of model.stream(hello)) if (delta.type === "text.delta") break;
    expect(model.requests[0]?.wasLeft).toBe(true);

    const stream = model.stream(hello)[Symbol.asyncIterator]();
    const pending = stream.next();
    const request = await model.request(1);
    expect(request.wasLeft).toBe(false);
    await stream.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    await request.ended;
    expect(request.wasLeft).toBe(true);
  });

  test("that is read up to its end was not left", async () => {
    using model = scriptedModel(["Hi"]);
    for await (const delta of model.stream(hello)) if (delta.type === "finished") break;
    expect(model.requests[0]?.wasLeft).toBe(false);
  });

  test.each<[string, Parameters<typeof scriptedModel>[0]]>([
    ["waits for a gate", [{ waitFor: new Promise(() => {}) }]],
    ["is delayed", [{ delayMs: Number.POSITIVE_INFINITY }]],
    ["waits for its function", [() => new Promise(() => {})]],
    ["waits between pieces", [{ text: [new Promise(() => {})] }]],
  ])("ends with the signal's reason while it %s, and leaves no listener", async (_name, script) => {
    using model = scriptedModel(script);
    const controller = new AbortController();
    const reason = new Error("Enough.");
    const asking = ask(model, { ...hello, signal: controller.signal });
    await model.request(0);
    controller.abort(reason);
    await expect(asking).rejects.toBe(reason);
    expect(model.requests[0]?.wasLeft).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("that is aborted before it is read from uses no answer", async () => {
    using model = scriptedModel("Hi");
    const reason = new Error("Too late.");
    await expect(ask(model, { ...hello, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(model.requests).toEqual([]);
  });
});

describe("a script", () => {
  test("reports a request beyond its end, immediately and in assertUsedUp()", async () => {
    const model = scriptedModel(["Hi"]);
    await ask(model);
    const message =
      "The scripted model 'scripted' was asked 2 times, but its script has 1 answer. " +
      'The request without an answer: 1 messages, the last one {"role":"user","content":"Hello"}. ' +
      "Add an answer to the script, or see why it was asked again.";
    await expect(ask(model)).rejects.toThrow(new ScriptError(message));
    expect(() => model.assertUsedUp()).toThrow(message);
  });

  test("lists the answers that are left", async () => {
    const model = scriptedModel(
      [
        "One",
        { text: "Two", error: new Error("x") },
        function third() {
          return "Three";
        },
      ],
      { name: "small" },
    );
    await ask(model);
    expect(() => model.assertUsedUp()).toThrow(
      new ScriptError(
        "The scripted model 'small' was asked 1 times, but its script has 3 answers. Never asked for:\n" +
          '  script[1]: {"text":"Two","error":"Error: x"}\n' +
          "  script[2]: the function 'third'\n" +
          "Take them out of the script, or see why it was not asked again.",
      ),
    );
    expect(() => model[Symbol.dispose]()).toThrow(ScriptError);
  });

  test("throws an error of its functions again in assertUsedUp(), even if it was caught", async () => {
    const wrong = new Error("expected two messages");
    const model = scriptedModel([
      () => {
        throw wrong;
      },
    ]);
    await ask(model).catch(() => {});
    expect(() => model.assertUsedUp()).toThrow(wrong);
  });

  test("refuses answers with unknown fields", async () => {
    const misspelt = { txt: "Hi" } as object;
    expect(() => scriptedModel(["Hi", misspelt])).toThrow("script[1].txt: expected one of the options");
    const model = scriptedModel([() => misspelt]);
    await expect(ask(model)).rejects.toThrow("script[0]().txt");
  });
});

test("a model has a name, an endpoint and a profile, which can be set", () => {
  expect(scriptedModel([])).toMatchObject({ name: "scripted", endpoint: "scripted://model" });
  const model = scriptedModel([], { name: "m", endpoint: "test://m", profile: { outputMode: "tool" } });
  expect(model).toMatchObject({ name: "m", endpoint: "test://m" });
  expect(model.profile).toMatchObject({ outputMode: "tool", text: "incremental" });
});
