import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventSink } from "../engine/event-sink.ts";
import { LocalNews } from "../store/news.ts";
import type { RunWrite, Store, StoredEvent } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { newResponse, write } from "../store/testing/build.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { followLog } from "./follow.ts";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A run that is written and published by hand, and a store that notes what is read from it. */
async function startRun() {
  const news = new LocalNews();
  const reads: number[] = [];
  const store: Store = storeAround(memoryStore(), (method, call, args) => {
    if (method === "events") reads.push(args[2] as number);
    const result = call();
    if (method === "commit") run.count += (args[1] as RunWrite).events?.length ?? 0;
    return result;
  });
  const run = {
    news,
    store,
    reads,
    /** How many events are written. */
    count: 0,
    /** Writes events, and publishes them unless another process has written them. */
    async commit(count: number, { isPublished = true, size = 0, isLast = false } = {}) {
      const events = Array.from({ length: count }, (_, i): StoredEvent => {
        const type = isLast && i === count - 1 ? "response.completed" : "response.text";
        const sequence = run.count + i;
        return { sequence, data: JSON.stringify({ type, sequence, text: "x".repeat(size) }) };
      });
      await store.commit(lease, write({ events, ...(isLast && { update: { status: "completed" } }) }));
      if (isPublished) news.publish("resp_1", events);
    },
    follow(sink: EventSink, after = -1, signal = new AbortController().signal) {
      return followLog({ store, news, owner: "ann", id: "resp_1", after, sink, signal });
    },
  };
  const lease = await store.create(newResponse("resp_1"), "worker-1", 30_000);
  return run;
}

/** A client that can stop reading. `isEarly` is set by an event that it got before it was written. */
function client(run: { readonly count: number }) {
  const got: number[] = [];
  let isEarly = false;
  let stalled: PromiseWithResolvers<void> | undefined;
  return {
    got,
    get isEarly() {
      return isEarly;
    },
    stall: () => {
      stalled ??= Promise.withResolvers();
    },
    goOn: () => {
      stalled?.resolve();
      stalled = undefined;
    },
    send(_type: string, json: string) {
      const { sequence } = JSON.parse(json) as { sequence: number };
      isEarly ||= sequence >= run.count;
      got.push(sequence);
    },
    get drained() {
      return stalled?.promise;
    },
  };
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

test("whatever comes between, each client gets every event once, in order, and none before it is written", async () => {
  const steps = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          count: fc.integer({ min: 1, max: 3 }),
          isPublished: fc.boolean(),
          size: fc.constantFrom(0, 0, 0, 300_000),
        }),
      },
      fc.record({ after: fc.integer({ min: -1, max: 10 }) }),
      fc.record({ do: fc.constantFrom("stall" as const, "goOn" as const), client: fc.nat({ max: 2 }) }),
      fc.record({ do: fc.constantFrom("wake", "wait") }),
    ),
    { minLength: 5, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const run = await startRun();
      const clients: { sink: ReturnType<typeof client>; after: number; over: Promise<void> }[] = [];
      for (const step of all) {
        if ("count" in step) await run.commit(step.count, step);
        else if ("after" in step) {
          const after = Math.min(step.after, run.count - 1);
          const sink = client(run);
          clients.push({ sink, after, over: run.follow(sink, after) });
        } else if ("client" in step) clients[step.client]?.sink[step.do]();
        else if (step.do === "wake") run.news.publish("resp_1");
        else await tick();
      }
      await run.commit(2, { isLast: true });
      // What another process has written is found when it is published.
      run.news.publish("resp_1");
      for (const { sink } of clients) sink.goOn();
      await Promise.all(clients.map(({ over }) => over));
      for (const { sink, after } of clients) {
        expect(sink.got).toEqual(numbers(after + 1, run.count - 1));
        expect(sink.isEarly).toBe(false);
      }
    }),
    { numRuns: 200 },
  );
});

test("a client that has caught up gets new events without a read of the store", async () => {
  const run = await startRun();
  await run.commit(3);
  const sink = client(run);
  const over = run.follow(sink);
  await tick();
  expect(sink.got).toEqual(numbers(0, 2));
  run.reads.length = 0;

  for (let i = 0; i < 20; i++) {
    await run.commit(2);
    await tick();
    expect(sink.got).toHaveLength(run.count);
  }
  await run.commit(1, { isLast: true });
  await over;

  expect(sink.got).toEqual(numbers(0, run.count - 1));
  expect(run.reads).toEqual([]);
});

test("what a slow client has not read yet is left to the store, and not kept for it", async () => {
  const run = await startRun();
  const sink = client(run);
  const over = run.follow(sink);
  await tick();
  run.reads.length = 0;
  sink.stall();
  await run.commit(1);
  await tick();

  for (let i = 0; i < 20; i++) await run.commit(1, { size: 100_000 });
  sink.goOn();
  await run.commit(1, { isLast: true });
  await over;

  expect(sink.got).toEqual(numbers(0, 21));
  expect(run.reads).toEqual([0]);
});

test("a client ends with its signal, and with the response", async () => {
  const run = await startRun();
  const gone = new AbortController();
  const followers = [run.follow(client(run), -1, gone.signal), run.follow(client(run))];
  await tick();

  gone.abort();
  await expect(followers[0]).resolves.toBeUndefined();
  await run.store.remove("ann", "resp_1");
  run.news.publish("resp_1");
  await expect(followers[1]).resolves.toBeUndefined();
});

test("a follower waits for a store that is away for a moment, and goes on without a gap", async () => {
  const run = await startRun();
  let failures = 0;
  const store = storeAround(run.store, async (method, call) => {
    if (method === "events" && failures > 0) {
      failures -= 1;
      throw new StoreError("unavailable", "The database restarts.");
    }
    return call();
  });
  const got: string[] = [];
  const sink = { drained: undefined, send: (_type: string, json: string) => void got.push(json) };
  const { signal } = new AbortController();
  const options = { store, news: run.news, owner: "ann", id: "resp_1", after: -1, sink, signal };
  await run.commit(2);
  failures = 2;
  const followed = followLog(options);
  await run.commit(2, { isPublished: false, isLast: true });
  await followed;
  expect(got.map((json) => (JSON.parse(json) as { sequence: number }).sequence)).toEqual([0, 1, 2, 3]);
  failures = 1;
  await expect(followLog({ ...options, outageMs: 0 })).rejects.toThrow("The database restarts.");
});
