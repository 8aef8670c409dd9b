// Runs that nobody waits for: queued, followed, cancelled, deleted, given back and taken up again.

import { join } from "node:path";
import { tool } from "rondo";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import type { ApiError } from "../protocol/api-error.ts";
import { sqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import type { Responses } from "./responses.ts";
import { type Disk, runWithCrashes } from "./testkit/crash.ts";
import {
  background,
  collector,
  lastResponse,
  never,
  plain,
  type ServiceSetup,
  startService,
  toFrames,
} from "./testkit/service.ts";
import { add, calls, inShort } from "./testkit/tools.ts";
import { probationMs } from "./worker.ts";

const forever = new Promise<never>(() => {});

async function start(script: ScriptedStep | readonly ScriptedStep[], setup: Partial<ServiceSetup> = {}) {
  const model = scriptedModel(script);
  const service = await startService({ model, tools: [add], ...setup });
  onTestFinished(() => service.drain(0));
  return { model, service };
}

async function enqueue(service: Responses, body: object = {}) {
  const request = { model: "test", input: "Go", background: true, ...body };
  return service.enqueue(await service.prepare("ada", request));
}

function follow(service: Responses, id: string, after = -1, signal = never) {
  const sink = collector();
  return { events: sink.events, ended: service.follow("ada", id, after, sink, signal) };
}

const ended = (service: Responses, id: string) => follow(service, id).ended;

describe("a background run", () => {
  test("is queued at once, and goes on by itself", async () => {
    const { service } = await start(["Done."]);
    const { queued, events, response } = await background(service, { input: "Go" });
    expect(queued).toMatchObject({ status: "queued", background: true, output: [] });
    expect(response).toMatchObject({ id: queued.id, status: "completed" });
    expect(await service.get("ada", queued.id)).toEqual(response);
    expect(streamFlaws(toFrames(events))).toEqual([]);
  });

  test("is followed from any event on, without a lost or doubled one", async () => {
    const { service } = await start([{ thinking: "Hm", text: ["a", "b"], calls: calls("add") }, "Done."]);
    const { events, queued } = await background(service, { input: "Go" });
    for (const [index] of events.entries()) {
      const rest = follow(service, queued.id, index);
      await rest.ended;
      expect(rest.events).toEqual(events.slice(index + 1));
    }
    const beyond = follow(service, queued.id, 1000);
    await beyond.ended;
    expect(beyond.events).toEqual([]);
  });

  test("is followed by many at once, and one that leaves changes nothing", async () => {
    const going = Promise.withResolvers<void>();
    const { service } = await start([{ text: ["a", going.promise, "b"] }]);
    const { id } = await enqueue(service);
    const leaving = new AbortController();
    const [one, two] = [follow(service, id, -1, leaving.signal), follow(service, id)];
    await vi.waitUntil(() => one.events.length > 3, { interval: 1 });
    leaving.abort();
    await one.ended;
    going.resolve();
    await two.ended;
    expect(lastResponse(two.events).status).toBe("completed");
    expect(one.events).toEqual(two.events.slice(0, one.events.length));
  });

  test("cannot be followed by another owner, and a foreground one by nobody", async () => {
    const { service } = await start("Done.");
    const { queued } = await background(service, { input: "Go" });
    await expect(service.follow("bob", queued.id, -1, collector(), never)).rejects.toMatchObject({
      status: 404,
    });
    const { id } = await plain(service, { input: "Go" });
    await expect(follow(service, id).ended).rejects.toMatchObject({ status: 400 });
  });

  test("begins at once, also when the worker is just about to go idle", async () => {
    for (let moments = 0; moments < 40; moments += 1) {
      const gate = Promise.withResolvers<void>();
      const store = storeAround(memoryStore(), async (method, call) => {
        if (method === "claim") await gate.promise;
        return call();
      });
      const service = await startService({ model: scriptedModel("Done."), store });
      const prepared = await service.prepare("ada", { model: "test", input: "Go", background: true });
      gate.resolve(); // there is nothing to do yet
      for (let moment = 0; moment < moments; moment += 1) await Promise.resolve();
      await service.enqueue(prepared);
      await ended(service, prepared.id);
      expect(await service.get("ada", prepared.id)).toMatchObject({ status: "completed" });
    }
  });

  test("that fails has the error in its stream", async () => {
    const { service } = await start([{ text: "Half", error: new Error("broken") }]);
    const { events, response } = await background(service, { input: "Go" });
    expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(streamFlaws(toFrames(events))).toEqual([]);
  });

  test("waits while enough others run", async () => {
    const going = Promise.withResolvers<void>();
    const { service, model } = await start(
      { waitFor: going.promise, text: "Done." },
      {
        runs: { concurrency: 2, leaseMs: 30_000, maxAttempts: 10 },
      },
    );
    const all = await Promise.all([enqueue(service), enqueue(service), enqueue(service)]);
    await model.request(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(model.requests).toHaveLength(2);
    going.resolve();
    await Promise.all(all.map(({ id }) => ended(service, id)));
    expect(model.requests).toHaveLength(3);
  });
});

describe.each(["memory", "SQLite"])("cancelling with %s", (kind) => {
  const open = (): Store => {
    if (kind === "memory") return memoryStore();
    const folder = tempFolder();
    const store = sqliteStore({ path: join(folder.path, "rondo.db") });
    onTestFinished(async () => {
      await store.close();
      folder[Symbol.dispose]();
    });
    return store;
  };
  const one = { concurrency: 1, leaseMs: 30_000, maxAttempts: 10 };

  test("ends a run that waits in the queue, and no other", async () => {
    const going = Promise.withResolvers<void>();
    const { service, model } = await start(
      { waitFor: going.promise, text: "Done." },
      { store: open(), runs: one },
    );
    const running = await enqueue(service);
    await model.request(0);
    const before = await enqueue(service);
    const waiting = await enqueue(service);
    const cancelled = await service.cancel("ada", waiting.id);
    expect(cancelled).toMatchObject({ status: "cancelled", incomplete_details: { reason: "cancelled" } });
    expect(await service.get("ada", before.id)).toMatchObject({ status: "queued" });
    const followed = follow(service, waiting.id);
    await followed.ended;
    expect(streamFlaws(toFrames(followed.events))).toEqual([]);
    going.resolve();
    await Promise.all([ended(service, running.id), ended(service, before.id)]);
    expect(model.requests).toHaveLength(2);
  });

  test("ends a run that works, and its tool; again it changes nothing", async () => {
    let wasStopped = false;
    const waiting = tool(
      { name: "waiting", description: "Waits.", input: {}, registry: false },
      async (_, { signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        wasStopped = true;
      },
    );
    const { service } = await start([{ text: "A moment", calls: calls("waiting") }], {
      store: open(),
      tools: [waiting],
    });
    const { id } = await enqueue(service);
    const { events, ended: followed } = follow(service, id);
    await vi.waitUntil(() => events.some(({ type }) => type === "response.mcp_call.in_progress"), {
      interval: 1,
    });
    const cancelled = await service.cancel("ada", id);
    await followed;
    expect(wasStopped).toBe(true);
    expect(cancelled).toMatchObject({
      status: "cancelled",
      output: [{}, { type: "mcp_call", status: "failed" }],
    });
    expect(lastResponse(events)).toEqual(cancelled);
    expect(streamFlaws(toFrames(events))).toEqual([]);
    expect(await service.cancel("ada", id)).toEqual(cancelled);
  });

  test("at the moment it is queued ends it too", async () => {
    const { service } = await start({ text: ["a", forever] }, { store: open() });
    const { id } = await enqueue(service);
    expect(await service.cancel("ada", id)).toMatchObject({ status: "cancelled" });
    const { events, ended: followed } = follow(service, id);
    await followed;
    expect(streamFlaws(toFrames(events))).toEqual([]);
  });

  test("leaves a run that is over as it is, and knows nothing of another's", async () => {
    const { service } = await start("Done.", { store: open() });
    const { response } = await background(service, { input: "Go" });
    expect(await service.cancel("ada", response.id)).toEqual(response);
    await expect(service.cancel("bob", response.id)).rejects.toMatchObject({ status: 404 });
  });

  test("from another process reaches the run with its heartbeat, if news get lost", async () => {
    const store = open();
    const { service } = await start(
      { text: ["a", forever] },
      {
        store,
        runs: { concurrency: 1, leaseMs: 30, maxAttempts: 10 },
      },
    );
    const { id } = await enqueue(service);
    const { events, ended: followed } = follow(service, id);
    await vi.waitUntil(() => events.length > 3, { interval: 1 });
    await store.requestCancel("ada", id);
    await followed;
    expect(lastResponse(events).status).toBe("cancelled");
  });
});

describe("deleting", () => {
  test("a run that works stops it, and ends the streams that follow it", async () => {
    const { service, model } = await start({ text: ["a", forever] });
    const { id } = await enqueue(service);
    const { events, ended: followed } = follow(service, id);
    await vi.waitUntil(() => events.length > 3, { interval: 1 });
    expect(await service.remove("ada", id)).toEqual({ id, object: "response", deleted: true });
    await followed;
    await model.requests[0]?.ended;
    expect(model.requests).toHaveLength(1);
    await expect(service.get("ada", id)).rejects.toMatchObject({ status: 404 });
    await expect(service.remove("ada", id)).rejects.toMatchObject({ status: 404 });
  });

  test("a foreground run tells its client", async () => {
    const { service, model } = await start({ text: ["a", forever] });
    const prepared = await service.prepare("ada", { model: "test", input: "Go" });
    const running = service.runPlain(prepared, never).catch((error: ApiError) => error);
    await model.request(0);
    await service.remove("ada", prepared.id);
    expect(await running).toMatchObject({ status: 404, code: "response_deleted" });
  });

  test("one of a chain breaks it for those who go on from it", async () => {
    const { service } = await start("Done.");
    const first = await plain(service, { input: "One" });
    const second = await plain(service, { input: "Two", previous_response_id: first.id });
    await service.remove("ada", first.id);
    await expect(plain(service, { input: "Three", previous_response_id: second.id })).rejects.toMatchObject({
      status: 404,
      code: "previous_response_not_found",
      message: expect.stringContaining(first.id),
    });
  });
});

test("a run of another process is cancelled at once, and not only with its next heartbeat", async () => {
  const store = memoryStore();
  const { service, model } = await start({ text: [forever] }, { store });
  const { id } = await enqueue(service);
  await model.request(0);
  const { events, ended: followed } = follow(service, id);
  const other = await start([], { store });
  await other.service.cancel("ada", id);
  await followed;
  expect(lastResponse(events)).toMatchObject({ id, status: "cancelled" });
});

describe("the end of a process", () => {
  test("by a shutdown leaves a run to the next one, which continues without a lost or doubled event", async () => {
    const store = memoryStore();
    const first = await start({ thinking: ["Hm"], text: ["a", forever] }, { store });
    const { id } = await enqueue(first.service);
    const before = follow(first.service, id);
    await vi.waitUntil(() => before.events.length > 6, { interval: 1 });
    await first.service.drain(0);
    expect(await first.service.get("ada", id)).toMatchObject({ status: "in_progress" });
    const seen = [...before.events];

    const second = await start(["Done."], { store });
    const after = follow(second.service, id, seen.at(-1)?.sequence_number);
    await after.ended;
    const all = [...seen, ...after.events];
    expect(streamFlaws(toFrames(all))).toEqual([]);
    expect(inShort(lastResponse(all).output)).toEqual(["reasoning: Hm", "message: a", "message: Done."]);
  });

  test("by a shutdown within a thought closes it in the form that it was begun in", async () => {
    const store = memoryStore();
    const first = await start({ thinking: ["Hm", forever] }, { store, thoughts: "both" });
    const { id } = await enqueue(first.service);
    const before = follow(first.service, id);
    await vi.waitUntil(() => before.events.length > 6, { interval: 1 });
    await first.service.drain(0);
    const seen = [...before.events];

    const second = await start([{ thinking: "So", text: "Done." }], { store, thoughts: "content" });
    const after = follow(second.service, id, seen.at(-1)?.sequence_number);
    await after.ended;
    const all = [...seen, ...after.events];
    expect(streamFlaws(toFrames(all))).toEqual([]);
    const [cut, whole] = lastResponse(all).output;
    expect(cut).toMatchObject({ summary: [{ text: "Hm" }], content: [{ text: "Hm" }], status: "incomplete" });
    expect(whole).toMatchObject({ summary: [], content: [{ text: "So" }] });
  });

  test("by a shutdown waits for runs that end soon, and begins no others", async () => {
    const going = Promise.withResolvers<void>();
    const { service, model } = await start({ waitFor: going.promise, text: "Done." });
    const { id } = await enqueue(service);
    await model.request(0);
    const drained = service.drain(60_000);
    const late = await enqueue(service);
    going.resolve();
    await drained;
    expect(await service.get("ada", id)).toMatchObject({ status: "completed" });
    expect(await service.get("ada", late.id)).toMatchObject({ status: "queued" });
  });

  test("fails the foreground runs that it leaves behind", async () => {
    let nowMs = 0;
    const store = memoryStore({ now: () => nowMs });
    const first = await start({ text: ["a", forever] }, { store });
    const prepared = await first.service.prepare("ada", { model: "test", input: "Go" });
    void first.service.runPlain(prepared, never).catch(() => {});
    await first.model.request(0);
    nowMs += 1_000_000;

    const second = await start([], { store });
    const kept = await vi.waitUntil(
      async () => {
        const found = await second.service.get("ada", prepared.id);
        return found.status === "in_progress" ? undefined : found;
      },
      { interval: 1 },
    );
    expect(kept).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(second.model.requests).toEqual([]);
  });

  test("too often without any progress fails the run", async () => {
    let nowMs = 0;
    const disk = memoryStore({ now: () => nowMs });
    const runs = { concurrency: 1, leaseMs: 1000, maxAttempts: 2 };
    let id = "";
    // Nobody knows to whom the first death is due.
    for (let life = 0; life < 3; life += 1) {
      let isDead = false;
      const store = storeAround(disk, (_method, call) => (isDead ? forever : call()));
      const model = scriptedModel({ text: [forever] });
      const service = await startService({ model, store, runs });
      id ||= (await enqueue(service)).id;
      await model.request(0);
      isDead = true;
      nowMs += 10_000;
    }
    const { service, model } = await start([], { store: disk, runs });
    const { events, ended: followed } = follow(service, id);
    await followed;
    expect(lastResponse(events)).toMatchObject({ status: "failed", error: { code: "too_many_attempts" } });
    expect(streamFlaws(toFrames(events))).toEqual([]);
    expect(model.requests).toEqual([]);
  });
});

describe("runs that were at work when a process died", () => {
  /** Lets a process begin `count` runs, do more, and die. */
  async function die(
    count: number,
    more?: (service: Responses, model: ReturnType<typeof scriptedModel>) => Promise<void>,
  ) {
    let nowMs = 0;
    const disk = memoryStore({ now: () => nowMs });
    let isDead = false;
    const store = storeAround(disk, (_method, call) => (isDead ? forever : call()));
    const model = scriptedModel({ text: [forever] });
    let createdMs = 0;
    const service = await startService({ model, store, now: () => ++createdMs });
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push((await enqueue(service, { input: `Run ${n}` })).id);
    await model.request(count - 1);
    await more?.(service, model);
    isDead = true;
    nowMs += 1_000_000;
    return { disk, ids };
  }

  const prompts = (model: ReturnType<typeof scriptedModel>) =>
    model.requests.map(({ messages }) => messages.find(({ role }) => role === "user")?.content);

  test("are started one after the other, before new ones", async () => {
    const { disk, ids } = await die(2);
    const steps = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const script = steps.map(({ promise }) => ({ waitFor: promise, text: "Done." }));
    const { service, model } = await start(script, { store: disk });
    await model.request(0);
    const fresh = await enqueue(service, { input: "New" });
    for (const [index, { resolve }] of steps.entries()) {
      await model.request(index);
      await new Promise((tick) => setImmediate(tick));
      expect(model.requests).toHaveLength(index + 1);
      resolve();
    }
    await Promise.all([...ids, fresh.id].map((id) => ended(service, id)));
    expect(prompts(model)).toEqual(["Run 0", "Run 1", "New"]);
  });

  test("do not keep interrupted requests of the foreground from their end", async () => {
    const { disk, ids } = await die(1, async (service, model) => {
      void plain(service, { input: "In the foreground" });
      await model.request(1);
    });
    const { service, model } = await start({ text: [forever] }, { store: disk });
    await model.request(0);
    expect(prompts(model)).toEqual(["Run 0"]);
    const { data } = await service.list("ada", { limit: 10, order: "asc" });
    expect(data.filter(({ id }) => id !== ids[0])).toMatchObject([
      { status: "failed", error: { code: "interrupted" } },
    ]);
  });

  test("let others begin after a round of theirs", async () => {
    const { disk, ids } = await die(2);
    const going = Promise.withResolvers<void>();
    const script = [{ calls: calls("add") }, { text: ["Do", going.promise, "ne."] }, "Done."];
    const { service, model } = await start(script, { store: disk });
    // The first still waits for the rest of its second answer.
    await model.request(2);
    await ended(service, ids[1] ?? "");
    going.resolve();
    await ended(service, ids[0] ?? "");
    expect(prompts(model)).toEqual(["Run 0", "Run 0", "Run 1"]);
  });

  test("let others begin after a while, which is longer each time", async () => {
    const { disk, ids } = await die(1);
    const waits: number[] = [];
    for (let life = 0; life < 3; life += 1) {
      const [claim] = await disk.queue.claim("worker", { leaseMs: 0, limit: 1, suspects: "only" });
      waits.push(probationMs(claim?.suspicion ?? 0));
      if (claim) await disk.queue.trust(claim, { hasProgressed: false });
    }
    expect(waits).toEqual([10_000, 40_000, 160_000]);
    expect(probationMs(50)).toBe(3_600_000);

    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { service, model } = await start([{ text: [forever] }, "Done."], { store: disk });
    onTestFinished(() => void vi.useRealTimers());
    await model.request(0);
    const fresh = await enqueue(service, { input: "New" });
    await new Promise((tick) => setImmediate(tick));
    expect(model.requests).toHaveLength(1);
    vi.advanceTimersByTime(640_000);
    await ended(service, fresh.id);
    expect(await service.get("ada", ids[0] ?? "")).toMatchObject({ status: "in_progress" });
  });
});

test("a process that was blocked for longer than its leases does not take its own runs for those of another", async () => {
  const going = Promise.withResolvers<void>();
  const runs = { concurrency: 2, leaseMs: 30, maxAttempts: 2 };
  const { service, model } = await start([{ waitFor: going.promise, text: "One." }, "Two."], { runs });
  const foreground = plain(service, { input: "Go" });
  await model.request(0);
  const body = { model: "test", input: "Go", background: true };
  const prepared = await service.prepare("ada", body);
  for (const end = Date.now() + 100; Date.now() < end; );
  const { id } = await service.enqueue(prepared);
  await ended(service, id);
  going.resolve();
  expect(await foreground).toMatchObject({ status: "completed" });
});

test("a store that fails for a while only delays a background run", async () => {
  const store = memoryStore();
  let failures = 0;
  const failing = storeAround(store, async (method, call) => {
    if (method === "commit" && failures < 2 && ++failures === 2)
      throw new StoreError("unavailable", "Locked.");
    return call();
  });
  const warnings: string[] = [];
  const { service } = await start({ text: ["a", "b"] }, { store: failing, warnings });
  const { events, response } = await background(service, { input: "Go" });
  expect(response.status).toBe("completed");
  expect(streamFlaws(toFrames(events))).toEqual([]);
  expect(warnings.join()).toContain("tried again");
});

test("a SQLite file is taken over by the next process at once, whatever the leases say", async () => {
  const folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  let store = sqliteStore({ path });
  onTestFinished(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });
  const disk: Disk = {
    store,
    restart: async () => {
      await store.close();
      store = sqliteStore({ path });
      return store;
    },
  };
  const script = [
    {
      thinking: ["Hm"],
      calls: [
        { id: "call_0", name: "pay", input: { n: 1 } },
        { id: "call_1", name: "look", input: { n: 2 } },
      ],
    },
    { text: ["Do", "ne."] },
  ];
  const cuts = [3, 2, 2, 1].map((at, index) => ({ at, isKept: index % 2 === 0 }));
  const { events, response, executions } = await runWithCrashes({ script }, cuts, disk);
  expect(streamFlaws(toFrames(events))).toEqual([]);
  expect(response.status).toBe("completed");
  expect(executions.filter(({ n }) => n === 1).length).toBeLessThanOrEqual(1);
});

test("a run that only compacts ends, and asks the model once", async () => {
  const warnings: string[] = [];
  const { model, service } = await start("They greeted.", { warnings });
  const input = [{ role: "user", content: "Hello." }, { type: "compaction_trigger" }];
  const { response, events } = await background(service, { input });
  expect(streamFlaws(toFrames(events))).toEqual([]);
  expect(response.status).toBe("completed");
  expect(response.output.map(({ type }) => type)).toEqual(["compaction"]);
  expect(model.requests).toHaveLength(1);
  expect(warnings).toEqual([]);
});
