// A process that shuts down, dies or is blocked: what becomes of its runs, and who continues them.

import { join } from "node:path";
import { scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import { sqliteStore } from "../store/sqlite/sqlite-store.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { ended, enqueue, follow, forever, start } from "./testkit/background.ts";
import { type Disk, runWithCrashes } from "./testkit/crash.ts";
import { lastResponse, never, plain, startService, toFrames } from "./testkit/service.ts";
import { inShort } from "./testkit/tools.ts";

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
