// What waits costs the store nothing: no follower, no waiting run and no worker asks it again without news.

import { scriptedModel } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import type { News } from "../store/news.ts";
import type { Lease } from "../store/run-queue.ts";
import type { Store } from "../store/store.ts";
import { newResponse, write } from "../store/testing/build.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { Conversations } from "./conversations.ts";
import type { Responses } from "./responses.ts";
import { background, collector, lastResponse, never, plain, startService } from "./testkit/service.ts";

const hourMs = 3_600_000;
const forever = new Promise<never>(() => {});

/** A store that notes the calls it gets, and a clock that stands still for it. */
function countedStore(inner = memoryStore({ now: () => 0 })) {
  const calls: string[] = [];
  const store = storeAround(inner, (method, call) => {
    calls.push(method);
    return call();
  });
  return { store, calls };
}

/** Lets all that is ready happen. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Everything but promises and the event loop stands still from now on. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

/** A process that takes no further step once it is dead, and what another one sees of its store. */
async function dyingService() {
  const clock = { nowMs: 0 };
  const disk = memoryStore({ now: () => clock.nowMs });
  let isDead = false;
  const store = storeAround(disk, (_method, call) => (isDead ? forever : call()));
  const model = scriptedModel({ text: [forever] });
  const service = await startService({ model, store });
  const die = async () => {
    await model.request(0);
    isDead = true;
  };
  return { service, disk, clock, die };
}

/** A run of another process: nothing is done for it here. */
async function foreignRun(store: Store, id: string) {
  return store.create(newResponse(id, { owner: "ada" }), "elsewhere", 30_000);
}

test("a server without runs does not query its store", async () => {
  stopTime();
  const { store, calls } = countedStore();
  await startService({ model: scriptedModel([]), store });
  await settle();
  expect(calls).toContain("claim");
  calls.length = 0;

  await pass(hourMs);

  expect(calls).toEqual([]);
});

test("a follower of an idle run does not query the store, and is woken by news", async () => {
  stopTime();
  const { store, calls } = countedStore();
  const service = await startService({ model: scriptedModel([]), store });
  const lease = await foreignRun(store, "resp_1");
  const sink = collector();
  const followed = service.follow("ada", "resp_1", -1, sink, never);
  await settle();
  calls.length = 0;

  await pass(hourMs);
  expect(calls.filter((method) => method === "events" || method === "get")).toEqual([]);

  const data = JSON.stringify({ type: "response.completed", sequence_number: 0, response: {} });
  await store.commit(lease, write({ events: [{ sequence: 0, data }], update: { status: "completed" } }));
  store.news?.publish("resp_1");
  await followed;
  expect(sink.events).toHaveLength(1);
});

test("the worker asks for jobs when a lease expires, and not in between", async () => {
  stopTime();
  const { service: dying, disk, clock, die } = await dyingService();
  void plain(dying, { input: "Go" });
  await die();
  const { store, calls } = countedStore(disk);
  const service = await startService({ model: scriptedModel([]), store });
  await settle();
  calls.length = 0;

  await pass(29_999);
  expect(calls).toEqual([]);
  clock.nowMs = 30_000;
  await pass(1);

  expect(calls).toContain("claim");
  const { data } = await service.list("ada", { limit: 10, order: "asc" });
  expect(data).toMatchObject([{ status: "failed", error: { code: "interrupted" } }]);
});

test("a run that waits for one of a process that died begins when the lease expires", async () => {
  stopTime();
  const { service: dying, disk, clock, die } = await dyingService();
  const service = await startService({ model: scriptedModel("Two."), store: disk });
  await settle(); // its worker has found no lease
  const { id } = await new Conversations({ store: disk, limits: { maxItems: 100 } }).create("ada", {});
  void plain(dying, { input: "1", conversation: id });
  await die();
  const waiting = plain(service, { input: "2", conversation: id });
  await settle();

  clock.nowMs = 30_000;
  await pass(30_000);

  expect((await waiting).status).toBe("completed");
});

test("a repeated request learns that the process of the first one died", async () => {
  stopTime();
  const { service: dying, disk, clock, die } = await dyingService();
  const service = await startService({ model: scriptedModel([]), store: disk });
  await settle();
  const repeatKey = { key: "k", fingerprint: "f" };
  const prepared = await dying.prepare("ada", { model: "test", input: "Go", stream: true }, { repeatKey });
  void dying.runStreamed(prepared, collector(), never);
  await die();
  const plainly = service.repeat("ada", prepared.id, never).catch((error: unknown) => error);
  const sink = collector();
  const followed = service.follow("ada", prepared.id, -1, sink, never);
  await settle();

  clock.nowMs = 30_000;
  await pass(30_000);

  expect(await plainly).toMatchObject({ code: "interrupted" });
  await followed;
  expect(lastResponse(sink.events)).toMatchObject({ status: "failed", error: { code: "interrupted" } });
});

test("leases are looked at in time though the clock was set back", async () => {
  stopTime();
  const { service: dying, disk, clock, die } = await dyingService();
  clock.nowMs = hourMs;
  void plain(dying, { input: "Go" });
  await die();
  clock.nowMs = 0;
  const service = await startService({ model: scriptedModel([]), store: disk });
  await settle();

  clock.nowMs = hourMs + 30_000;
  await pass(30_000);

  const { data } = await service.list("ada", { limit: 10, order: "asc" });
  expect(data).toMatchObject([{ status: "failed" }]);
});

test("a response that cannot be ended does not keep others waiting", async () => {
  stopTime();
  const disk = memoryStore();
  await disk.create(newResponse("resp_1", { owner: "ada", background: false }), "elsewhere", 0);
  const store = storeAround(disk, (method, call, [lease]) =>
    method === "resume" && (lease as Lease).responseId === "resp_1"
      ? Promise.reject(new Error("This row is broken."))
      : call(),
  );
  const service = await startService({ model: scriptedModel("One."), store });
  const ended = background(service, { input: "Go" });

  for (let round = 0; round < 5; round += 1) await pass(2000);

  expect((await ended).response.status).toBe("completed");
});

test("a run that waits for its conversation is planned again only when the one before it has ended", async () => {
  const { store, calls } = countedStore();
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel([{ text: ["One", gate.promise, "."] }, "Two."]);
  const service = await startService({ model, store });
  const { id } = await new Conversations({ store, limits: { maxItems: 100 } }).create("ada", {});
  const first = plain(service, { input: "1", conversation: id });
  await model.request(0);
  stopTime();
  const other = await startService({ model: scriptedModel("Three."), store });
  // In another process, so that it waits for the store and not for the run before it.
  const waiting = plain(other, { input: "2", conversation: id });
  await vi.waitUntil(() => plans(calls) > 1, { interval: 1 });
  await settle();
  const before = plans(calls);

  await pass(20_000);
  expect(plans(calls)).toBe(before);

  gate.resolve();
  expect((await first).status).toBe("completed");
  expect((await waiting).status).toBe("completed");
  expect(plans(calls)).toBe(before + 1);
});

test("a store that other processes write to without news is polled as often as it says", async () => {
  const inner = memoryStore();
  const [one, two] = [withNews(inner, undefined), withNews(inner, undefined)];
  const works: Responses = await startService({ model: scriptedModel({ text: ["On", "e."] }), store: one });
  const reads: Responses = await startService({ model: scriptedModel("One."), store: two });
  const prepared = await reads.prepare("ada", { model: "test", input: "Go", background: true });
  await reads.drain(0); // it takes no jobs: the other has to find this one
  const { id } = await reads.enqueue(prepared);
  const sink = collector();
  await reads.follow("ada", id, -1, sink, never);
  expect(lastResponse(sink.events)).toMatchObject({ id, status: "completed" });
  await works.drain(0);
});

test.each<[string, News["publish"]]>([
  [
    "throws",
    () => {
      throw new Error("no connection");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no connection"))],
])("a run survives news that cannot be published: publish() %s", async (_how, publish) => {
  const warnings: string[] = [];
  const store = withNews(memoryStore(), { publish, subscribe: () => () => {} });
  const service = await startService({ model: scriptedModel(["One.", "Two."]), store, warnings });
  expect((await plain(service, { input: "Go" })).status).toBe("completed");
  expect((await background(service, { input: "Go" })).response.status).toBe("completed");
  await service.drain(0);
  expect(warnings[0]).toContain("News of the store could not be published.");
});

/** A store whose news may get lost. */
function withNews(inner: Store, news: News | undefined): Store {
  return new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name === "news") return news;
      if (name === "pollMs") return 20;
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function plans(calls: readonly string[]): number {
  return calls.filter((method) => method === "readConversation").length;
}
