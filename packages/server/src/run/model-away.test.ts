import { openaiCompatible, tool } from "rondo";
import { type ModelServer, type ServerStep, startModelServer } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { memoryStore } from "../store/testkit/memory.ts";
import { background, collector, never, plain, startService } from "./testkit/service.ts";

const runs = { concurrency: 1, leaseMs: 30_000, maxAttempts: 3, modelWaitMs: 60_000 };

/** A proxy at a fixed address for a model server that comes and goes. */
function movingModel() {
  let target: ModelServer | undefined;
  const model = openaiCompatible({
    baseURL: "http://model.test/v1",
    model: "m",
    server: "vllm",
    retry: false,
    fetch: async (url, init) => {
      if (!target) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      return fetch(url.replace("http://model.test/v1", target.url), init);
    },
  });
  return {
    model,
    async up(script: ServerStep | readonly ServerStep[]) {
      target = await startModelServer(script);
      const server = target;
      onTestFinished(() => server.close());
      return server;
    },
    async down() {
      await target?.close();
      target = undefined;
    },
  };
}

test("a background run waits for a model server that is away, and goes on", async () => {
  const moving = movingModel();
  const warnings: string[] = [];
  const service = await startService({ model: moving.model, runs, warnings });
  onTestFinished(() => service.drain(0));
  const ended = background(service, { input: "Hi." });
  await vi.waitFor(() => expect(warnings.join()).toContain("waits for its model server"));
  await moving.up(["Hello."]);
  const { response } = await ended;
  expect(response).toMatchObject({ status: "completed", output: [{ content: [{ text: "Hello." }] }] });
});

test("an answer that was cut in the middle is closed, and asked for again", async () => {
  const moving = movingModel();
  const called: number[] = [];
  const add = tool("add", "Add.", { a: Number }, ({ a }) => {
    called.push(a);
    return a;
  });
  const service = await startService({ model: moving.model, runs, tools: [add] });
  onTestFinished(() => service.drain(0));
  await moving.up([
    { calls: [{ name: "add", arguments: '{"a":1}' }] },
    { text: ["Half ", "of it"], drop: 2 },
    "All of it.",
  ]);
  const { response } = await background(service, { input: "Hi." });
  const messages = response.output.filter((item) => item.type === "message");
  expect(response.status).toBe("completed");
  expect(messages).toMatchObject([
    { status: "incomplete", content: [{ text: expect.stringMatching(/^Half/) }] },
    { status: "completed", content: [{ text: "All of it." }] },
  ]);
  expect(called).toEqual([1]);
  expect(response.usage).toMatchObject({ estimated: true });
});

test("one that waits does not keep others from working, and can be cancelled", async () => {
  const moving = movingModel();
  const warnings: string[] = [];
  await using other = await startModelServer("Hello.");
  const up = openaiCompatible({ baseURL: other.url, model: "m", retry: false });
  const service = await startService({
    model: {
      ...moving.model,
      profile: moving.model.profile,
      stream: (request) =>
        (request.messages.some(({ content }) => content === "Now.") ? up : moving.model).stream(request),
    },
    runs,
    warnings,
  });
  onTestFinished(() => service.drain(0));
  const prepared = await service.prepare("ada", { model: "test", background: true, input: "Later." });
  const { id } = await service.enqueue(prepared);
  await vi.waitFor(() => expect(warnings.join()).toContain("waits for its model server"));
  const { response } = await background(service, { input: "Now." });
  expect(response.status).toBe("completed");
  expect(await service.cancel("ada", id)).toMatchObject({ status: "cancelled" });
});

test("it survives a restart while it waits, and fails at the limit of time", async () => {
  const moving = movingModel();
  const store = memoryStore();
  const warnings: string[] = [];
  let nowMs = 1_000_000;
  const options = { model: moving.model, store, runs, warnings, now: () => nowMs };
  const first = await startService(options);
  const prepared = await first.prepare("ada", { model: "test", background: true, input: "Hi." });
  const { id } = await first.enqueue(prepared);
  await vi.waitFor(() => expect(warnings).toHaveLength(1));
  await first.drain(0);
  nowMs += runs.modelWaitMs + 1;
  const second = await startService(options);
  onTestFinished(() => second.drain(0));
  const sink = collector();
  await second.follow("ada", id, -1, sink, never);
  expect(sink.events.at(-1)).toMatchObject({
    type: "response.failed",
    response: { error: { code: "model_unreachable" } },
  });
});

test("a foreground request fails at once", async () => {
  const moving = movingModel();
  const service = await startService({ model: moving.model, runs });
  onTestFinished(() => service.drain(0));
  await expect(plain(service, { input: "Hi." })).rejects.toMatchObject({ code: "model_unreachable" });
});
