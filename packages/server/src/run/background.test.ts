// Runs that nobody waits for: queued, followed, and delayed.

import { scriptedModel } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import { StoreError } from "../store/store-error.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { ended, enqueue, follow, start } from "./testkit/background.ts";
import {
  background,
  collector,
  lastResponse,
  never,
  plain,
  startService,
  toFrames,
} from "./testkit/service.ts";
import { calls } from "./testkit/tools.ts";

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
