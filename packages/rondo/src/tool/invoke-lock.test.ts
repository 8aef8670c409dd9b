import { getEventListeners, once } from "node:events";
import { setImmediate as nextTick } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { TurnTimeoutError } from "../errors.ts";
import { type AnyTool, LockTimeoutError, Registry, SafeExecutionError, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

describe("without a lock", () => {
  test("runs of a tool overlap", async () => {
    let running = 0;
    const both = Promise.withResolvers<void>();
    const made = tool("t", "d", {}, async () => {
      running += 1;
      if (running === 2) both.resolve();
      await both.promise;
    });
    await Promise.all([made.execute({}), made.execute({})]);
    expect(running).toBe(2);
  });
});

describe("with a lock", () => {
  /** A locked tool whose runs note when they start, and end when the test says so. */
  function lockedTool() {
    const started: number[] = [];
    const gates = new Map<number, PromiseWithResolvers<void>>();
    const gate = (n: number) => {
      const known = gates.get(n) ?? Promise.withResolvers<void>();
      gates.set(n, known);
      return known;
    };
    const made = tool(
      { name: "write", description: "d", input: { n: Number }, lock: true, registry },
      async ({ n }) => {
        started.push(n);
        await gate(n).promise;
        return n;
      },
    );
    return {
      made,
      started,
      end: (n: number) => gate(n).resolve(),
      fail: (n: number) => gate(n).reject(new Error("no")),
    };
  }

  test("runs of a tool follow each other in the order of their start", async () => {
    const { made, started, end } = lockedTool();
    const runs = [1, 2, 3].map((n) => made.execute({ n }));
    await nextTick();
    expect(started).toEqual([1]);
    end(1);
    await runs[0];
    await nextTick();
    expect(started).toEqual([1, 2]);
    end(2);
    end(3);
    expect(await Promise.all(runs)).toEqual([1, 2, 3]);
  });

  test("runs of another tool do not wait", async () => {
    const { made, end } = lockedTool();
    const first = made.execute({ n: 1 });
    const other = tool({ name: "other", description: "d", lock: true, registry }, async () => "free");
    expect(await other.execute()).toBe("free");
    end(1);
    await first;
  });

  test("beforeInvoke is outside: it fires while another run has the lock", async () => {
    const { made, started, end } = lockedTool();
    const asked = Promise.withResolvers<void>();
    made.beforeInvoke(async ({ n }) => {
      if (n === 2) asked.resolve();
    });
    const first = made.execute({ n: 1 });
    await nextTick();
    const second = made.execute({ n: 2 });
    await asked.promise;
    expect(started).toEqual([1]);
    end(1);
    end(2);
    await Promise.all([first, second]);
  });

  test("afterInvoke is outside: the second function starts before the first's slow hook ends", async () => {
    const { made, started, end } = lockedTool();
    const slow = Promise.withResolvers<void>();
    made.afterInvoke(async (n) => {
      if (n === 1) await slow.promise;
    });
    const first = made.execute({ n: 1 });
    const second = made.execute({ n: 2 });
    end(1);
    end(2);
    expect(await second).toBe(2); // would wait forever if the hook had the lock
    expect(started).toEqual([1, 2]);
    slow.resolve();
    await first;
  });

  test("onError is outside: the second function runs before the first's slow hook ends", async () => {
    const { made, end, fail } = lockedTool();
    const slow = Promise.withResolvers<void>();
    made.onError(async () => slow.promise);
    const first = made.execute({ n: 1 });
    const second = made.execute({ n: 2 });
    fail(1);
    end(2);
    expect(await second).toBe(2);
    slow.resolve();
    await expect(first).rejects.toThrow("no");
  });

  test("onYield is inside: the second stream does not start before the first's hooks have ended", async () => {
    const started: number[] = [];
    const made = tool(
      { name: "stream", description: "d", input: { n: Number }, lock: true, registry },
      async function* ({ n }) {
        started.push(n);
        yield n;
      },
    );
    const slow = Promise.withResolvers<void>();
    made.onYield(async (n) => {
      if (n === 1) await slow.promise;
    });
    const first = Array.fromAsync(made.execute({ n: 1 }));
    await nextTick();
    const second = Array.fromAsync(made.execute({ n: 2 }));
    await nextTick();
    expect(started).toEqual([1]);
    slow.resolve();
    expect(await Promise.all([first, second])).toEqual([[1], [2]]);
  });

  test("a stream that nobody reads on does not keep it", async () => {
    const made = tool({ name: "stream", description: "d", lock: true, registry }, async function* () {
      yield* [1, 2, 3];
    });
    await using idle = made.execute();
    await idle.next();
    expect(await Array.fromAsync(made.execute())).toEqual([1, 2, 3]);
  });

  test("a stream that was left gives it back", async () => {
    const made = tool(
      { name: "stream", description: "d", lock: true, registry },
      async function* (_, { signal }) {
        yield 1;
        await once(signal, "abort");
      },
    );
    for await (const value of made.execute()) if (value === 1) break;
    expect(made.lock?.isHeld).toBe(false);
  });

  test("a function that throws gives it back", async () => {
    const { made, fail } = lockedTool();
    const first = made.execute({ n: 1 });
    fail(1);
    await expect(first).rejects.toThrow("no");
    expect(made.lock?.isHeld).toBe(false);
  });

  test("waiting for it can be aborted, and the function never starts", async () => {
    const { made, started, end } = lockedTool();
    const first = made.execute({ n: 1 });
    const controller = new AbortController();
    const second = made.execute({ n: 2 }, { signal: controller.signal });
    await nextTick();
    controller.abort("enough");
    await expect(second).rejects.toBe("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    end(1);
    await first;
    expect(started).toEqual([1]);
  });

  test("waiting for it has a limit of its own", async () => {
    const { made, started, end } = lockedTool();
    const first = made.execute({ n: 1 });
    const second = made.execute({ n: 2 }, { timeoutMs: 1 });
    await expect(second).rejects.toThrow(LockTimeoutError);
    await expect(second).rejects.toThrow("The lock of the tool 'write' was not free within 1 ms.");
    end(1);
    await first;
    expect(started).toEqual([1]);
  });

  test("is kept by a function that goes on after its timeout, until it has really ended", async () => {
    const warnings = collectWarnings();
    const { made, started, end } = lockedTool();
    await expect(made.execute({ n: 1 }, { timeoutMs: 1, graceMs: 0 })).rejects.toThrow(TurnTimeoutError);
    expect(warnings).toEqual([
      expect.stringContaining("The tool 'write' was aborted but did not stop within 0 ms"),
    ]);
    const second = made.execute({ n: 2 });
    await nextTick();
    expect(started).toEqual([1]);
    end(1);
    end(2);
    expect(await second).toBe(2);
  });

  test("a tool that runs itself fails with a SafeExecutionError instead of waiting for itself", async () => {
    const made: AnyTool = tool({ name: "self", description: "d", lock: true, registry }, async () => {
      await nextTick();
      return made.execute();
    });
    const run = made.execute();
    await expect(run).rejects.toThrow(SafeExecutionError);
    await expect(run).rejects.toThrow("The lock of the tool 'self'");
    expect(made.lock?.isHeld).toBe(false);
  });

  test("a tool that runs itself through another one fails so too", async () => {
    const outer: AnyTool = tool({ name: "outer", description: "d", lock: true, registry }, async () =>
      inner.execute(),
    );
    const inner: AnyTool = tool({ name: "inner", description: "d", lock: true, registry }, async () =>
      outer.execute(),
    );
    await expect(outer.execute()).rejects.toThrow("The lock of the tool 'outer'");
  });

  test("a streaming tool that runs itself fails so too", async () => {
    const made: AnyTool = tool({ name: "self", description: "d", lock: true, registry }, async function* () {
      yield 1;
      yield* made.execute() as AsyncIterable<unknown>;
    });
    await expect(Array.fromAsync(made.execute() as AsyncIterable<unknown>)).rejects.toThrow(
      SafeExecutionError,
    );
    expect(made.lock?.isHeld).toBe(false);
  });

  test("work that a tool started may run the tool again once it has ended", async () => {
    const ended = Promise.withResolvers<void>();
    let later: Promise<unknown> | undefined;
    const made: AnyTool = tool({ name: "self", description: "d", lock: true, registry }, async () => {
      later ??= ended.promise.then(() => made.execute());
      return "done";
    });
    await made.execute();
    ended.resolve();
    expect(await later).toBe("done");
  });
});
