// Any run that was at work when a process died may have killed it: these are started again one at a time.

import { scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import type { Responses } from "./responses.ts";
import { ended, enqueue, forever, start } from "./testkit/background.ts";
import { plain, startService } from "./testkit/service.ts";
import { calls } from "./testkit/tools.ts";
import { probationMs } from "./worker.ts";

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
