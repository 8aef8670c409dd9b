// Background runs that a client cancels: in the queue, at work, and in another process.

import { join } from "node:path";
import { tool } from "rondo";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import { sqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { ended, enqueue, follow, forever, start } from "./testkit/background.ts";
import { background, lastResponse, toFrames } from "./testkit/service.ts";
import { calls } from "./testkit/tools.ts";

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
