import { setImmediate as nextTick } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { startModelServer } from "../testing/model-server.ts";
import { type ChatForwarder, chatForwarder, type ForwardRequest } from "./chat-forwarder.ts";

const never = new AbortController().signal;
const body = '{"model":"test-model","messages":[],"odd":1.0}';

async function forwarded(forwarder: ChatForwarder, request: Partial<ForwardRequest> = {}) {
  let text = "";
  let head: Parameters<ForwardRequest["onHead"]>[0] | undefined;
  await forwarder.forward({
    body,
    signal: never,
    onHead: (given) => {
      head = given;
    },
    onBytes: (bytes) => {
      text += Buffer.from(bytes).toString("latin1");
      return undefined;
    },
    ...request,
  });
  return { head, text };
}

test("an answer comes back byte by byte, whatever is in it", async () => {
  const raw = ["data: {not json\r\n\r\n", Buffer.from([0, 255, 10]), ": comment\n\n"];
  await using server = await startModelServer([{ raw, headers: { "content-type": "text/event-stream" } }]);
  const forwarder = chatForwarder({ baseURL: server.url, model: "test-model", apiKey: "key-1" });
  const { head, text } = await forwarded(forwarder);
  expect(text).toBe("data: {not json\r\n\r\n\u0000\u00ff\n: comment\n\n");
  expect(head).toEqual({ status: 200, contentType: "text/event-stream" });
  expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer key-1" });
  expect(server.requests[0]?.body).toEqual(JSON.parse(body));
});

test.each([
  [{ status: 400 }, "model_request"],
  [{ status: 401 }, "model_auth"],
  [{ status: 404 }, "model_not_found"],
  [{ status: 429 }, "model_rate_limit"],
  [{ status: 500 }, "model_server"],
  [{ hangUp: true }, "model_unreachable"],
  [{ raw: ["data: 1\n\n"], drop: 1 }, "model_stream_broken"],
] as const)("%o is an error with the code %s, and is not asked again", async (answer, code) => {
  await using server = await startModelServer([answer]);
  const forwarder = chatForwarder({ baseURL: server.url, model: "test-model" });
  await expect(forwarded(forwarder)).rejects.toMatchObject({ code });
});

test("an abort closes the connection, before the answer and in it", async () => {
  await using server = await startModelServer([
    { waitFor: new Promise(() => {}) },
    { raw: ["data: 1\n\n"], stall: true },
  ]);
  const forwarder = chatForwarder({ baseURL: server.url, model: "test-model" });
  const before = new AbortController();
  const first = forwarded(forwarder, { signal: before.signal });
  const waiting = await server.request(0);
  before.abort(new Error("Left."));
  await expect(first).rejects.toThrow("Left.");
  await waiting.closed;
  const within = new AbortController();
  const onBytes = () => within.abort(new Error("Left again.")) as undefined;
  await expect(forwarded(forwarder, { signal: within.signal, onBytes })).rejects.toThrow("Left again.");
  const cut = await server.request(1);
  await cut.closed;
  expect([waiting.wasLeft, cut.wasLeft]).toEqual([true, true]);
});

test("silence and time have their limits", async () => {
  await using server = await startModelServer({ raw: ["data: 1\n\n"], stall: true });
  const options = { baseURL: server.url, model: "test-model" };
  await expect(forwarded(chatForwarder({ ...options, idleTimeoutMs: 20 }))).rejects.toMatchObject({
    code: "model_idle_timeout",
  });
  await expect(forwarded(chatForwarder({ ...options, timeoutMs: 20 }))).rejects.toMatchObject({
    code: "model_timeout",
  });
});

test("a slow whole answer does not time out, unless a limit was set", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await startModelServer([
    { raw: ["late"], waitFor: gate.promise },
    { raw: ["later"], waitFor: new Promise(() => {}) },
  ]);
  const options = { baseURL: server.url, model: "test-model" };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = forwarded(chatForwarder(options), { isWhole: true });
  await server.request(0);
  for (let pass = 0; pass < 3; pass += 1) vi.advanceTimersByTime(3_600_000);
  gate.resolve();
  expect((await answer).text).toBe("late");

  const limited = forwarded(chatForwarder({ ...options, idleTimeoutMs: 600_000 }), { isWhole: true }).catch(
    (error: unknown) => error,
  );
  await server.request(1);
  for (let pass = 0; pass < 3; pass += 1) vi.advanceTimersByTime(600_000);
  expect(await limited).toMatchObject({ code: "model_idle_timeout" });
});

test("no limit is left behind when the last bytes are taken after the end", async () => {
  await using server = await startModelServer([{ raw: ["all"], headers: { "content-length": "3" } }]);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const room = Promise.withResolvers<void>();
  await forwarded(chatForwarder({ baseURL: server.url, model: "test-model" }), {
    onBytes: () => room.promise,
  });
  const before = vi.getTimerCount();
  room.resolve();
  await nextTick();
  expect(vi.getTimerCount()).toBe(before);
});

test("requests at once are limited, together with those of the provider", async () => {
  const gate = Promise.withResolvers<void>();
  await using server = await startModelServer([{ raw: ["1"], waitFor: gate.promise }, { raw: ["2"] }]);
  const forwarder = chatForwarder({ baseURL: server.url, model: "test-model", maxConcurrency: 1 });
  const first = forwarded(forwarder);
  await server.request(0);
  const second = forwarded(forwarder);
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.requests).toHaveLength(1);
  gate.resolve();
  expect([(await first).text, (await second).text]).toEqual(["1", "2"]);
});

test("a slow reader applies backpressure to the server", async () => {
  const block = "x".repeat(1_000_000);
  await using server = await startModelServer([{ raw: Array.from({ length: 20 }, () => block) }]);
  const forwarder = chatForwarder({ baseURL: server.url, model: "test-model" });
  const gate = Promise.withResolvers<void>();
  let size = 0;
  const pieces: number[] = [];
  const done = forwarded(forwarder, {
    onBytes: (bytes) => {
      size += bytes.length;
      pieces.push(size);
      return pieces.length === 1 ? gate.promise : undefined;
    },
  });
  const request = await server.request(0);
  await expect.poll(() => pieces.length).toBe(1);
  for (let round = 0; round < 50; round += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(request.closedAt).toBeUndefined();
  expect(pieces).toHaveLength(1);
  gate.resolve();
  await done;
  expect(size).toBe(20_000_000);
});
