import { expect, test } from "vitest";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { type ServerStep, scriptedModel, startModelServer } from "../testing/index.ts";
import { openaiCompatible } from "./chat-completions.ts";
import { fallback } from "./fallback.ts";
import type { ModelDelta, ModelProvider, ModelRequest } from "./provider.ts";

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello!" }] };
const broken = () => scriptedModel([{ error: new Error("broken") }], { name: "first" });

async function collect(model: ModelProvider): Promise<{ text: string; warnings: string[]; error: unknown }> {
  const outcome = { text: "", warnings: [] as string[], error: undefined as unknown };
  try {
    for await (const delta of model.stream(hello)) {
      if (delta.type === "text.delta") outcome.text += delta.text;
      if (delta.type === "warning") outcome.warnings.push(delta.message);
    }
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

test("the first model answers, and the others are not asked", async () => {
  const model = fallback(scriptedModel([{ text: "a" }]), scriptedModel([]));
  expect(await collect(model)).toEqual({ text: "a", warnings: [], error: undefined });
});

test("the next is asked when one fails before it has said anything, with a warning", async () => {
  const model = fallback(broken(), broken(), scriptedModel([{ text: "c" }], { name: "third" }));
  const { text, warnings, error } = await collect(model);
  expect(error).toBeUndefined();
  expect(text).toBe("c");
  expect(warnings).toHaveLength(2);
  expect(warnings[1]).toMatch(/^The model 'first' failed, so 'third' at .+ is asked: broken$/);
});

test("the last one's error is thrown", async () => {
  const last = scriptedModel([{ error: new Error("last") }]);
  expect((await collect(fallback(broken(), last))).error).toMatchObject({ message: "last" });
});

test("a model that has begun to answer is not replaced", async () => {
  const failing: ModelProvider = {
    name: "first",
    endpoint: "x",
    profile: scriptedModel([]).profile,
    async *stream(): AsyncGenerator<ModelDelta> {
      yield { type: "text.delta", text: "a" };
      throw new Error("broken");
    },
  };
  expect(await collect(fallback(failing, scriptedModel([])))).toMatchObject({
    text: "a",
    error: { message: "broken" },
  });
});

const serve = (step: ServerStep) => startModelServer([step]);

test("over HTTP: falls back after a refused connection; retry warnings do not count as an answer", async () => {
  await using server = await serve({ text: "b" });
  const first = openaiCompatible({
    baseURL: "http://127.0.0.1:1/v1",
    model: "a",
    retry: { attempts: 2, delayMs: 1 },
  });
  const { text, warnings } = await collect(
    fallback(first, openaiCompatible({ baseURL: server.url, model: "b" })),
  );
  expect(text).toBe("b");
  expect(warnings).toEqual([
    expect.stringContaining("asking again"),
    expect.stringContaining("No model server answers"),
  ]);
});

test("leaving closes the stream of the current model", async () => {
  await using server = await serve({ waitFor: new Promise(() => {}) });
  const model = fallback(broken(), openaiCompatible({ baseURL: server.url, model: "b" }));
  const stream = model.stream(hello)[Symbol.asyncIterator]();
  await stream.next();
  const pending = stream.next();
  const request = await server.request(0);
  await stream.return?.();
  expect(await pending).toEqual({ done: true, value: undefined });
  await request.closed;
  expect(request.wasLeft).toBe(true);
});

test("an abort ends the chain", async () => {
  await using server = await serve({ waitFor: new Promise(() => {}) });
  const controller = new AbortController();
  const model = fallback(openaiCompatible({ baseURL: server.url, model: "a" }), scriptedModel([]));
  const stream = model.stream({ ...hello, signal: controller.signal })[Symbol.asyncIterator]();
  const pending = stream.next();
  await server.request(0);
  controller.abort("enough");
  await expect(pending).rejects.toBe("enough");
});

test("looks like the first model", () => {
  const first = scriptedModel([], { name: "first" });
  expect(fallback(first, broken())).toMatchObject({
    name: "first",
    endpoint: first.endpoint,
    profile: first.profile,
  });
});

test("rejects arguments that are not models", () => {
  expect(() => (fallback as () => unknown)()).toThrow(InvalidArgumentError);
  expect(() => fallback(broken(), "qwen3" as never)).toThrow(InvalidTypeError);
});
