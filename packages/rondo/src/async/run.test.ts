import { getEventListeners, once } from "node:events";
import { describe, expect, test } from "vitest";
import { collectWarnings } from "../testkit/warnings.ts";
import { Run } from "./run.ts";

const aborted = (signal: AbortSignal) => once(signal, "abort");

describe("a run", () => {
  test("does nothing before the first next()", async () => {
    let started = false;
    const run = new Run(async function* () {
      started = true;
      yield 1;
    });
    await Promise.resolve();
    expect(started).toBe(false);
    await run.next();
    expect(started).toBe(true);
    await run.return();
  });

  test("gives all values, also undefined and null, and then what the generator returns", async () => {
    const run = new Run(async function* () {
      yield undefined;
      yield null;
      return "end";
    });
    expect(await run.next()).toEqual({ done: false, value: undefined });
    expect(await run.next()).toEqual({ done: false, value: null });
    expect(await run.next()).toEqual({ done: true, value: "end" });
    expect(await run.next()).toEqual({ done: true, value: undefined });
  });

  test("can be iterated with for await", async () => {
    const run = new Run(async function* () {
      yield* [1, 2, 3];
    });
    expect(await Array.fromAsync(run)).toEqual([1, 2, 3]);
  });

  test("passes on what the generator throws, and is over then", async () => {
    const error = new Error("no");
    const run = new Run(async function* () {
      yield 1;
      throw error;
    });
    await run.next();
    await expect(run.next()).rejects.toBe(error);
    expect(await run.next()).toEqual({ done: true, value: undefined });
    expect(await run.return()).toEqual({ done: true, value: undefined });
  });
});

describe("leaving", () => {
  test("aborts first and does not wait behind a pending next()", async () => {
    const run = new Run(async function* (signal) {
      await aborted(signal); // forever, for a bare generator's return()
      yield 1;
    });
    const pending = run.next();
    expect(await run.return()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  test("aborts the generator with an AbortError", async () => {
    const reasons: unknown[] = [];
    const run = new Run(async function* (signal) {
      await aborted(signal);
      reasons.push(signal.reason);
      yield 1;
    });
    void run.next();
    await run.return();
    expect(reasons).toEqual([expect.objectContaining({ name: "AbortError" })]);
  });

  test("waits for the cleanup", async () => {
    let isClean = false;
    const run = new Run(async function* () {
      try {
        yield 1;
      } finally {
        await new Promise(setImmediate);
        isClean = true;
      }
    });
    for await (const value of run) if (value === 1) break;
    expect(isClean).toBe(true);
  });

  test("does not wait for the cleanup forever, and says so", async () => {
    const warnings = collectWarnings();
    const run = new Run(
      async function* () {
        yield await new Promise<number>(() => {});
      },
      { graceMs: 1 },
    );
    void run.next();
    await run.return();
    expect(warnings).toEqual([expect.stringContaining("has not finished its cleanup in time")]);
  });

  test("throws what the cleanup throws after a value", async () => {
    const run = new Run(async function* () {
      try {
        yield 1;
      } finally {
        await Promise.reject(new Error("cleanup failed"));
      }
    });
    await run.next();
    await expect(run.return()).rejects.toThrow("cleanup failed");
  });

  test("throws what the cleanup throws while next() is pending, which then just ends", async () => {
    const run = new Run(async function* (signal) {
      await aborted(signal);
      if (signal.aborted) throw new Error("cleanup failed");
      yield 1;
    });
    const pending = run.next();
    await expect(run.return()).rejects.toThrow("cleanup failed");
    expect(await pending).toEqual({ done: true, value: undefined });
  });

  test("throws what the cleanup throws, however many next() are pending", async () => {
    const run = new Run(async function* (signal) {
      await aborted(signal);
      if (signal.aborted) throw new Error("cleanup failed");
      yield 1;
    });
    const pending = [run.next(), run.next()];
    await expect(run.return()).rejects.toThrow("cleanup failed");
    for (const step of pending) expect(await step).toEqual({ done: true, value: undefined });
  });

  test("does not throw if the generator rethrows the abort", async () => {
    const run = new Run(async function* (signal) {
      await aborted(signal);
      signal.throwIfAborted();
      yield 1;
    });
    void run.next();
    expect(await run.return()).toEqual({ done: true, value: undefined });
  });

  test("before the start starts nothing", async () => {
    let started = false;
    const run = new Run(async function* () {
      started = true;
      yield 1;
    });
    await run.return();
    expect(await run.next()).toEqual({ done: true, value: undefined });
    expect(started).toBe(false);
  });

  test("twice does no harm", async () => {
    let cleanups = 0;
    const run = new Run(async function* () {
      try {
        yield 1;
      } finally {
        cleanups += 1;
      }
    });
    await run.next();
    await run.return();
    await run.return();
    expect(cleanups).toBe(1);
  });

  test("a second time waits for the same cleanup", async () => {
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const run = new Run(async function* () {
      try {
        yield 1;
      } finally {
        await gate.promise;
        order.push("clean");
      }
    });
    await run.next();
    const leaving = [run.return(), run.return().then(() => order.push("left"))];
    await new Promise(setImmediate);
    gate.resolve();
    await Promise.all(leaving);
    expect(order).toEqual(["clean", "left"]);
  });

  test("a second time does not throw the same error again", async () => {
    const run = new Run(async function* () {
      try {
        yield 1;
      } finally {
        await Promise.reject(new Error("cleanup failed"));
      }
    });
    await run.next();
    const first = run.return();
    const second = run.return();
    await expect(first).rejects.toThrow("cleanup failed");
    expect(await second).toEqual({ done: true, value: undefined });
    expect(await run.return()).toEqual({ done: true, value: undefined });
  });

  test("happens at the end of an `await using` block", async () => {
    let isClean = false;
    {
      await using run = new Run(async function* () {
        try {
          yield 1;
        } finally {
          isClean = true;
        }
      });
      await run.next();
      expect(isClean).toBe(false);
    }
    expect(isClean).toBe(true);
  });
});

describe("an abort from outside", () => {
  test("reaches the generator, and next() rejects with its reason", async () => {
    const controller = new AbortController();
    const run = new Run(
      async function* (signal) {
        await aborted(signal);
        signal.throwIfAborted();
        yield 1;
      },
      { signal: controller.signal },
    );
    const pending = run.next();
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("that came before the start is known to the generator from the first moment", async () => {
    const signal = AbortSignal.abort("before");
    const run = new Run(
      async function* (inner) {
        inner.throwIfAborted();
        yield 1;
      },
      { signal },
    );
    await expect(run.next()).rejects.toBe("before");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("is not listened for before the start", () => {
    const { signal } = new AbortController();
    void new Run(async function* () {}, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test.each<[string, (run: Run<number>) => Promise<unknown>]>([
    ["has ended", (run) => Array.fromAsync(run)],
    ["was left", (run) => run.next().then(() => run.return())],
    ["has failed", (run) => run.next().then(() => run.next().then(() => run.next().catch(() => {})))],
  ])("is not listened for any more when the run %s", async (_, finish) => {
    const { signal } = new AbortController();
    let isListening = false;
    const run = new Run<number>(
      async function* () {
        isListening = getEventListeners(signal, "abort").length === 1;
        yield 1;
        yield 2;
        if (_ === "has failed") throw new Error("no");
      },
      { signal },
    );
    await finish(run);
    expect(isListening).toBe(true);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
