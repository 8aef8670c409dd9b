// Requests that are sent again under the same Idempotency-Key: over HTTP, with a real service behind it.

import { scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import type { StreamEvent } from "../protocol/events.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { type ServiceSetup, startService, toFrames } from "../run/testkit/service.ts";
import type { Store } from "../store/store.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { testServer } from "./testkit/test-server.ts";

type Script = Parameters<typeof scriptedModel>[0];

async function start(script: Script, setup: Partial<ServiceSetup> = {}) {
  const model = scriptedModel(script);
  const service = await startService({ model, ...setup });
  const server = await testServer(
    {},
    {
      responses: service,
      authenticate: async (headers) => ({
        owner: (headers instanceof Headers ? headers.get("authorization") : headers.authorization) ?? "ada",
      }),
    },
  );
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await service.drain(0);
  });
  const send = (
    key: string,
    body: object = {},
    init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ) =>
    server.post(
      "/v1/responses",
      { model: "test", input: "Go", ...body },
      { ...init, headers: { "idempotency-key": key, ...init.headers } },
    );
  const json = async (reply: Promise<Response> | Response) => (await (await reply).json()) as ResponseObject;
  return { model, service, server, send, json };
}

async function eventsOf(reply: Response): Promise<StreamEvent[]> {
  const lines = (await reply.text()).split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)) as StreamEvent);
}

/** A store in which nothing is created before `count` responses are to be. */
function createsTogether(count: number): Store {
  const all = Promise.withResolvers<void>();
  let creating = 0;
  return storeAround(memoryStore(), async (method, call) => {
    if (method === "create" && ++creating === count) all.resolve();
    if (method === "create") await all.promise;
    return call();
  });
}

describe("a request with an Idempotency-Key", () => {
  test("gives the same response when it is sent again, and asks the model once", async () => {
    const { send, json, model } = await start(["One.", "Two."]);
    const first = await json(send("k"));
    expect(first).toMatchObject({ status: "completed" });
    expect(await json(send("k"))).toEqual(first);
    expect(model.requests).toHaveLength(1);
    expect((await json(send("other"))).id).not.toBe(first.id);
  });

  test("gives two simultaneous requests the same response", async () => {
    const going = Promise.withResolvers<void>();
    const { send, json, model } = await start([{ waitFor: going.promise, text: "One." }]);
    const both = [json(send("k")), json(send("k")), json(send("k"))];
    await model.request(0);
    const late = json(send("k"));
    going.resolve();
    const [first, ...rest] = await Promise.all([...both, late]);
    expect(first).toMatchObject({ status: "completed" });
    for (const other of rest) expect(other).toEqual(first);
    expect(model.requests).toHaveLength(1);
  });

  test("is finished after its client has left, for the retry", async () => {
    const going = Promise.withResolvers<void>();
    const { send, json, model } = await start([{ waitFor: going.promise, text: "One." }]);
    const leaving = new AbortController();
    const left = send("k", {}, { signal: leaving.signal });
    await model.request(0);
    leaving.abort();
    await expect(left).rejects.toThrow("aborted");
    const again = json(send("k"));
    going.resolve();
    expect(await again).toMatchObject({ status: "completed" });
    expect(model.requests).toHaveLength(1);
  });

  test("is not finished for an owner whose clients leave too many runs", async () => {
    const forever = new Promise<never>(() => {});
    const runs = { concurrency: 1, leaseMs: 30_000, maxAttempts: 2 };
    const { send, service, model } = await start({ waitFor: forever }, { runs });
    for (const [index, owner] of ["ada", "ada", "bob"].entries()) {
      const leaving = new AbortController();
      const headers = { authorization: owner };
      const left = send(`key-${index}`, {}, { signal: leaving.signal, headers });
      await model.request(index);
      leaving.abort();
      await expect(left).rejects.toThrow("aborted");
    }
    const statuses = async (owner: string) =>
      (await service.list(owner, { limit: 10, order: "asc" })).data.map(({ status }) => status).toSorted();
    await vi.waitFor(async () => expect(await statuses("ada")).toEqual(["cancelled", "in_progress"]));
    expect(await statuses("bob")).toEqual(["in_progress"]);
  });

  test("gives the same stream, from its start, also while it runs", async () => {
    const going = Promise.withResolvers<void>();
    const { send, model } = await start([{ thinking: "Hm", text: ["a", going.promise, "b"] }]);
    const first = send("k", { stream: true });
    await model.request(0);
    const second = send("k", { stream: true });
    going.resolve();
    const events = await eventsOf(await first);
    expect(streamFlaws(toFrames(events))).toEqual([]);
    expect(await eventsOf(await second)).toEqual(events);
    expect(await eventsOf(await send("k", { stream: true }))).toEqual(events);
    expect(model.requests).toHaveLength(1);
  });

  test("in the background gives the run as it is, and its stream", async () => {
    const { send, json, model, server } = await start(["One."]);
    const first = await json(send("k", { background: true }));
    expect(first).toMatchObject({ status: "queued" });
    const path = `/v1/responses/${first.id}`;
    await vi.waitFor(async () =>
      expect(await json(server.fetch(path))).toMatchObject({ status: "completed" }),
    );
    expect(await json(send("k", { background: true }))).toEqual(await json(server.fetch(path)));
    const streamed = await eventsOf(await send("s", { background: true, stream: true }));
    expect(await eventsOf(await send("s", { background: true, stream: true }))).toEqual(streamed);
    expect(model.requests).toHaveLength(2);
  });

  test.each([
    ["plain", {}],
    ["streamed", { stream: true }],
    ["background", { background: true }],
    ["streamed background", { background: true, stream: true }],
  ])("gives %s ones the same response though none was there when they came", async (_, body) => {
    const { send, model } = await start("One.", { store: createsTogether(3) });
    const replies = await Promise.all(Array.from({ length: 3 }, () => send("k", body)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const texts = await Promise.all(replies.map((reply) => reply.text()));
    const ids = texts.map((text) => /"id":"(resp_\w+)"/.exec(text)?.[1]);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toBeDefined();
    await model.request(0);
    expect(model.requests).toHaveLength(1);
  });

  test("is not rejected because the same request keeps its conversation busy", async () => {
    const going = Promise.withResolvers<void>();
    const created = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    let asked = 0;
    const memory = memoryStore();
    const store = storeAround(memory, async (method, call) => {
      const isSecond = method === "findByKey" && ++asked === 2;
      const result = await call();
      if (method === "create") created.resolve();
      // The second has looked for the key before the first has kept it.
      if (isSecond) await created.promise;
      if (method === "findByKey" && asked === 1) await second.promise;
      return result;
    });
    const conversation = { id: "conv_1", owner: "ada", createdAtMs: 1, metadata: {}, items: [] };
    await memory.createConversation(conversation);
    const { send, json, model } = await start([{ waitFor: going.promise, text: "One." }], {
      store,
      conversations: "reject",
    });
    const both = [send("k", { conversation: "conv_1" }), send("k", { conversation: "conv_1" })];
    await vi.waitFor(() => expect(asked).toBe(2));
    second.resolve();
    await model.request(0);
    going.resolve();
    const [first, other] = await Promise.all(both.map(json));
    expect(first).toMatchObject({ status: "completed" });
    expect(other).toEqual(first);
    expect(model.requests).toHaveLength(1);
  });

  test("can be followed before the first event of its run", async () => {
    const written = Promise.withResolvers<void>();
    const store = storeAround(memoryStore(), async (method, call) => {
      if (method === "commit") await written.promise;
      return call();
    });
    const { send, model } = await start("One.", { store });
    const first = send("k", { stream: true });
    const reply = await first;
    const second = await send("k", { stream: true });
    expect(second.status).toBe(200);
    written.resolve();
    expect(await eventsOf(second)).toEqual(await eventsOf(reply));
    expect(model.requests).toHaveLength(1);
  });

  test("with another body is rejected with 422", async () => {
    const { send, json, model } = await start(["One."]);
    await json(send("k"));
    const reply = await send("k", { input: "Something else" });
    expect(reply.status).toBe(422);
    expect(await reply.json()).toMatchObject({ error: { code: "idempotency_key_reused" } });
    expect(model.requests).toHaveLength(1);
  });

  test("shares its key with no other owner", async () => {
    const { send, json } = await start(["One.", "Two."]);
    const mine = await json(send("k"));
    const theirs = await json(send("k", {}, { headers: { authorization: "bob" } }));
    expect(theirs.id).not.toBe(mine.id);
  });

  test("that is invalid does not use up its key", async () => {
    const { send, json } = await start(["One."]);
    expect((await send("k", { model: "nobody" })).status).toBe(404);
    expect((await send("k", { input: 5 })).status).toBe(400);
    expect(await json(send("k"))).toMatchObject({ status: "completed" });
  });

  test("that failed fails again, without another model call", async () => {
    const { send, model } = await start([{ error: new Error("broken") }, "Never."]);
    const first = await send("k");
    const second = await send("k");
    expect(first.status).toBe(500);
    expect(second.status).toBe(first.status);
    const shape = async (reply: Response) => ((await reply.json()) as { error: object }).error;
    expect(await shape(second)).toEqual(await shape(first));
    expect(model.requests).toHaveLength(1);
  });

  test("runs anew when its response was deleted, and when the key is too old", async () => {
    let nowMs = 1_000_000;
    const now = () => nowMs;
    const { send, json, server } = await start("Done.", {
      now,
      store: memoryStore({ now }),
      idempotencyMs: 1000,
    });
    const { id } = await json(send("k"));
    await server.fetch(`/v1/responses/${id}`, { method: "DELETE" });
    const second = await json(send("k"));
    expect(second.id).not.toBe(id);
    nowMs += 1000;
    expect((await json(send("k"))).id).not.toBe(second.id);
  });

  test.each([
    ["with store: false", "k", { store: false }, "idempotency_key_needs_store"],
    ["whose key is too long", "k".repeat(256), {}, "invalid_idempotency_key"],
    ["whose key has spaces", "a, b", {}, "invalid_idempotency_key"],
    ["whose key is empty", "", {}, "invalid_idempotency_key"],
  ])("%s is refused with 400", async (_, key, body, code) => {
    const { send, model } = await start([]);
    const reply = await send(key, body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code } });
    expect(model.requests).toEqual([]);
  });

  test("gives a complete stream after the server crashed", async () => {
    let clockMs = 0;
    const store = memoryStore({ now: () => clockMs });
    const model = scriptedModel([{ text: ["Half", new Promise<never>(() => {})] }]);
    const dying = await startService({ model, store });
    const repeatKey = { key: "k", fingerprint: "f" };
    const body = { model: "test", input: "Go", stream: true };
    const prepared = await dying.prepare("ada", body, { repeatKey });
    const heard: string[] = [];
    const sink = { send: (type: string) => void heard.push(type), drained: undefined };
    void dying.runStreamed(prepared, sink, new AbortController().signal);
    await vi.waitFor(() => expect(heard).toContain("response.output_text.delta"));
    clockMs += 1_000_000; // its lease is over

    const { service } = await start([], { store });
    const id = await service.findRepeated("ada", repeatKey);
    expect(id).toBe(prepared.id);
    const events: StreamEvent[] = [];
    const collect = {
      send: (_: string, data: string) => void events.push(JSON.parse(data)),
      drained: undefined,
    };
    await service.follow("ada", prepared.id, -1, collect, new AbortController().signal);
    expect(events.slice(0, heard.length).map(({ type }) => type)).toEqual(heard);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "interrupted" } },
    });
  });
});
