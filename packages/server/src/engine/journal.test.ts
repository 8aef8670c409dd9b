// Nobody hears of anything before the store has it, and whatever the store does, the numbers have no gap.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { EventBody, StreamEvent } from "../protocol/events.ts";
import type { MessageItem } from "../protocol/items.ts";
import type { RunWrite, StoredEvent } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { message, newResponse } from "../store/testing/build.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { type StoreHook, storeAround } from "../store/testkit/store-around.ts";
import { Journal, type JournalOptions } from "./journal.ts";
import { RunTracer } from "./run-tracer.ts";

/** A store that commits when it is told to. */
async function openJournal(
  options: Partial<JournalOptions> & { isKept?: boolean; flushWindowMs?: number } = {},
) {
  const { isKept = true, flushWindowMs = 0, ...rest } = options;
  const store = Object.assign(memoryStore(), { flushWindowMs });
  const lease = await store.create(newResponse("resp_1"), "worker", 30_000);
  const commits: { write: RunWrite; pass: () => void; refuse: (error: Error) => void }[] = [];
  const slow: StoreHook = async (method, call, args) => {
    const write = args[1] as RunWrite;
    if (method === "commit") await new Promise<void>((pass, refuse) => commits.push({ write, pass, refuse }));
    return call();
  };
  const heard: StreamEvent[] = [];
  const journal = new Journal({
    ...(isKept && { kept: { store: storeAround(store, slow), lease } }),
    logsEvents: false,
    sink: { drained: undefined, send: (_type, json) => void heard.push(JSON.parse(json) as StreamEvent) },
    ...rest,
  });
  onTestFinished(() => journal.close());
  const commit = (index: number) => vi.waitUntil(() => commits[index], { interval: 1 });
  return { journal, heard, store, commit, commits };
}

const delta = (text: string): EventBody => ({
  type: "response.output_text.delta",
  item_id: "msg_1",
  output_index: 0,
  content_index: 0,
  delta: text,
  logprobs: [],
});
const done = (item: MessageItem, index = 0): EventBody => ({
  type: "response.output_item.done",
  output_index: index,
  item,
});
const numbers = (events: readonly StreamEvent[]) => events.map(({ sequence_number: at }) => at);
const full = new StoreError("unavailable", "The disk is full.");

describe("a run whose events are not logged", () => {
  test("says at once what needs no commit, and the rest after its commit", async () => {
    const { journal, heard, commit, store } = await openJournal();
    journal.emit(delta("a"));
    expect(numbers(heard)).toEqual([0]);
    journal.put({ index: 0, turn: 0, item: message("msg_1") });
    journal.emit(done(message("msg_1")));
    journal.emit(delta("b"));
    const settled = journal.settle();
    const { write, pass } = await commit(0);
    expect(write).toMatchObject({ output: [{ index: 0 }], isDurable: true });
    expect(write.events).toBeUndefined();
    expect(numbers(heard)).toEqual([0]);

    // Whatever comes meanwhile waits its turn.
    journal.emit(delta("c"));
    expect(numbers(heard)).toEqual([0]);
    pass();
    await settled;
    expect(numbers(heard)).toEqual([0, 1, 2, 3]);
    expect(await store.output("ann", "resp_1")).toHaveLength(1);
  });

  test("needs no commit for events alone", async () => {
    const { journal, heard, commits } = await openJournal();
    journal.emit(delta("a"));
    await journal.settle();
    expect(commits).toEqual([]);
    expect(heard).toHaveLength(1);
  });

  test("that is not kept at all says everything at once", async () => {
    const { journal, heard, commits } = await openJournal({ isKept: false });
    journal.put({ index: 0, turn: 0, item: message("msg_1") });
    journal.update({ status: "completed" });
    journal.emit(done(message("msg_1")));
    expect(numbers(heard)).toEqual([0]);
    await journal.settle();
    expect(commits).toEqual([]);
  });

  test("that cannot be kept any more ends its stream without a gap, and with the items that were heard of", async () => {
    const { journal, heard, commit, store } = await openJournal();
    journal.put({ index: 0, turn: 0, item: message("msg_1") });
    journal.emit(done(message("msg_1")));
    const settled = journal.settle();
    (await commit(0)).pass();
    await settled;
    journal.put({ index: 1, turn: 0, item: message("msg_2") });
    journal.emit(done(message("msg_2"), 1));
    journal.emit(delta("never heard"));
    const failing = journal.settle();
    (await commit(1)).refuse(full);
    await expect(failing).rejects.toBe(full);
    expect(journal.broken.reason).toBe(full);

    journal.emit(delta("too late"));
    journal.giveUp((told) => {
      expect(told.map(({ id }) => id)).toEqual(["msg_1"]);
      return [delta("last"), delta("words")];
    });
    expect(numbers(heard)).toEqual([0, 1, 2]);
    expect(heard.at(-1)).toMatchObject({ delta: "words" });
    expect(await store.output("ann", "resp_1")).toHaveLength(1);
  });
});

describe("a run whose events are logged", () => {
  test("hands on what was committed, once it was, and nothing that was refused", async () => {
    const told: (readonly StoredEvent[])[] = [];
    const { journal, commit } = await openJournal({
      logsEvents: true,
      onCommit: (events) => void told.push(events),
    });
    journal.emit(delta("a"));
    journal.emit(delta("b"));
    const { write, pass } = await commit(0);
    expect(told).toEqual([]);
    pass();
    await vi.waitUntil(() => told.length > 0, { interval: 1 });
    expect(told[0]).toMatchObject(write.events ?? []);
    journal.emit(delta("c"));
    (await commit(1)).refuse(full);
    await expect(journal.settle()).rejects.toBe(full);

    expect(told).toHaveLength(1);
  });

  test("writes the first event at once, those of the flush window after it as one commit, and ends that early to settle", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const tick = () => new Promise((resolve) => setImmediate(resolve));
    const { journal, commit, commits } = await openJournal({ logsEvents: true, flushWindowMs: 60_000 });
    journal.emit(delta("a"));
    const first = await commit(0);
    expect(first.write.events).toHaveLength(1);
    first.pass();
    await tick();

    journal.emit(delta("b"));
    await tick();
    journal.emit(delta("c"));
    await tick();
    expect(commits).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    const { write, pass } = await commit(1);
    expect(write.events).toHaveLength(2);
    pass();
    await tick();

    journal.emit(delta("d"));
    const settled = journal.settle();
    (await commit(2)).pass();
    await settled;
  });

  test("writes the events of one tick as one commit, and what comes meanwhile as the next", async () => {
    const { journal, heard, commit, commits, store } = await openJournal({ logsEvents: true });
    journal.emit(delta("a"));
    journal.emit(delta("b"));
    const first = await commit(0);
    expect(first.write).toMatchObject({ events: [{ sequence: 0 }, { sequence: 1 }], isDurable: false });
    journal.emit(delta("c"));
    journal.step({ type: "x" });
    journal.emit(delta("d"));
    const settled = journal.settle();
    expect(heard).toEqual([]);
    first.pass();
    const second = await commit(1);
    expect(numbers(heard)).toEqual([0, 1]);
    expect(second.write).toMatchObject({ events: [{ sequence: 2 }, { sequence: 3 }], isDurable: true });
    second.pass();
    await settled;
    expect(numbers(heard)).toEqual([0, 1, 2, 3]);
    expect(commits).toHaveLength(2);
    expect(await store.events("ann", "resp_1", -1, 10)).toHaveLength(4);
  });

  test("says and writes nothing any more once it is closed", async () => {
    const { journal, heard, commits } = await openJournal({ logsEvents: true });
    journal.emit(delta("a"));
    journal.close();
    journal.emit(delta("b"));
    journal.put({ index: 0, turn: 0, item: message("msg_1") });
    journal.step({ type: "x" });
    journal.update({ status: "cancelled" });
    await journal.settle();
    await new Promise((resolve) => setImmediate(resolve));
    expect({ heard, commits }).toEqual({ heard: [], commits: [] });
  });

  test("is held back while too much is unwritten", async () => {
    const { journal, commit } = await openJournal({ logsEvents: true });
    expect(journal.pause).toBeUndefined();
    for (let index = 0; index < 300; index += 1) journal.emit(delta("x"));
    const pause = journal.pause;
    expect(pause).toBeInstanceOf(Promise);
    (await commit(0)).pass();
    await pause;
    expect(journal.pause).toBeUndefined();
  });
});

test("a trace that takes much memory is written on its own, and holds the run back", async () => {
  const tracer = new RunTracer({ level: "full", createdAtMs: 0, onEvent: () => {} });
  const { journal, heard, commit, commits, store } = await openJournal({ tracer });
  const chunk = { type: "model.chunk", atMs: 1, answer: 0, text: "x".repeat(10_000) } as const;
  for (let count = 0; count < 20; count += 1) tracer.record(chunk);
  expect(journal.pause).toBeUndefined();
  for (let count = 0; count < 10; count += 1) tracer.record(chunk);
  const { pause } = journal;
  expect((await commit(0)).write).toMatchObject({ trace: { first: 0, last: 29 }, isDurable: false });
  journal.emit(delta("a"));
  expect(heard).toEqual([]);
  commits[0]?.pass();
  await pause;
  expect(journal.pause).toBeUndefined();
  expect(numbers(heard)).toEqual([0]);
  expect(await store.trace("ann", "resp_1", -1)).toHaveLength(1);
});

test("a reader that cannot keep up holds the run back", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { journal } = await openJournal({ sink: { drained: promise, send: () => {} } });
  expect(journal.pause).toBe(promise);
  resolve();
});

describe("a sign of life", () => {
  test("comes after silence, again and again, and counts like any event", async () => {
    const { journal, heard } = await openJournal({ keepAliveMs: 5 });
    journal.emit(delta("a"));
    await vi.waitUntil(() => heard.length >= 4, { interval: 1 });
    expect(heard.slice(1, 4).map(({ type }) => type)).toEqual(["keepalive", "keepalive", "keepalive"]);
    expect(numbers(heard)).toEqual(heard.map((_, index) => index));
  });

  test("waits for a commit that is under way", async () => {
    const { journal, heard, commit } = await openJournal({ keepAliveMs: 2 });
    journal.put({ index: 0, turn: 0, item: message("msg_1") });
    journal.emit(done(message("msg_1")));
    const settled = journal.settle();
    const { pass } = await commit(0);
    await new Promise((resolve) => setTimeout(resolve, 20)); // several signs are due
    expect(heard).toEqual([]);
    pass();
    await settled;
    expect(heard.map(({ type }) => type)).toContain("keepalive");
    expect(numbers(heard)).toEqual(heard.map((_, index) => index));
  });
});
