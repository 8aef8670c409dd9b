import { afterEach, describe, expect, test, vi } from "vitest";
import { TurnTimeoutError } from "../errors.ts";
import { LockTimeoutError, Registry, RondoError, TimeoutError, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
  vi.useRealTimers();
});

/** From now on time passes only when the test says so. */
function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
}

/** Lets time pass for whoever waits for it. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** Settles when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

describe("a tool that takes too long", () => {
  test("is aborted, and the turn has timed out", async () => {
    let reason: unknown;
    const stuck = tool("stuck", "", {}, async (_input, { signal }) => {
      await abortOf(signal);
      reason = signal.reason;
    });
    const turn = new Turn(stuck, {}, { timeoutMs: 2 });
    const running = turn.returning();
    await expect(running).rejects.toThrow(TurnTimeoutError);
    await expect(running).rejects.toThrow("The tool 'stuck' ran for more than its 2 ms and was aborted.");
    await expect(running).rejects.toMatchObject({ code: "turn_timeout", toolName: "stuck", timeoutMs: 2 });
    await expect(running).rejects.toBe(reason);
    expect(turn).toMatchObject({ stopReason: "timeout", output: undefined, isRunning: false });
    expect(turn.endTime).toBeInstanceOf(Date);
  });

  test("fails with an error that is a TimeoutError of this library", async () => {
    const stuck = tool("stuck", "", {}, (_input, { signal }) => abortOf(signal));
    const running = new Turn(stuck, {}, { timeoutMs: 2 }).returning();
    await expect(running).rejects.toThrow(TimeoutError);
    await expect(running).rejects.toThrow(RondoError);
  });

  test("has the limit of the tool when the turn sets none", async () => {
    const stuck = tool(
      { name: "stuck", description: "", timeoutMs: 2, registry },
      async (_input, { signal }) => abortOf(signal),
    );
    await expect(new Turn(stuck).returning()).rejects.toMatchObject({ timeoutMs: 2 });
  });

  test("as a stream: it is aborted, the values so far have come, the output is undefined", async () => {
    const stuck = tool("stuck", "", {}, async function* (_input, { signal }) {
      yield 1;
      await abortOf(signal);
    });
    const turn = new Turn(stuck, {}, { timeoutMs: 2 });
    const run = turn.yielding();
    expect((await run.next()).value).toBe(1);
    await expect(run.next()).rejects.toThrow(TurnTimeoutError);
    expect(turn).toMatchObject({ stopReason: "timeout", output: undefined, isRunning: false });
  });

  test("cannot hold the run by ignoring its signal: it is left behind, with a warning", async () => {
    const warnings = collectWarnings();
    const gate = Promise.withResolvers<string>();
    const deaf = tool("deaf", "", {}, () => gate.promise);
    const turn = new Turn(deaf, {}, { timeoutMs: 2 });
    await expect(turn.returning({ graceMs: 2 })).rejects.toThrow(TurnTimeoutError);
    expect(warnings).toEqual([
      "The tool 'deaf' was aborted but did not stop within 2 ms; it is left behind. Pass context.signal on to what it waits for.",
    ]);
    gate.resolve("late");
    await new Promise(setImmediate);
    expect(turn).toMatchObject({ stopReason: "timeout", output: undefined });
  });

  test("cannot hold a stream either", async () => {
    const warnings = collectWarnings();
    const gate = Promise.withResolvers<string>();
    const deaf = tool("deaf", "", {}, async function* () {
      yield "first";
      yield await gate.promise;
    });
    const turn = new Turn(deaf, {}, { timeoutMs: 2 });
    await expect(Array.fromAsync(turn.yielding({ graceMs: 2 }))).rejects.toThrow(TurnTimeoutError);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("it is left behind");
    gate.resolve("late");
    await new Promise(setImmediate);
    expect(turn).toMatchObject({ stopReason: "timeout", output: undefined });
  });

  test("cannot make an unhandled rejection by failing after it was left behind", async () => {
    collectWarnings();
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    const gate = Promise.withResolvers<never>();
    const deaf = tool("deaf", "", {}, () => gate.promise);
    await expect(new Turn(deaf, {}, { timeoutMs: 2 }).returning({ graceMs: 0 })).rejects.toThrow(
      TurnTimeoutError,
    );
    gate.reject(new Error("late"));
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("is waited for while it cleans up", async () => {
    const warnings = collectWarnings();
    const log: string[] = [];
    const tidy = tool("tidy", "", {}, async (_input, { signal }) => {
      await abortOf(signal);
      await new Promise(setImmediate);
      log.push("clean");
    });
    const turn = new Turn(tidy, {}, { timeoutMs: 2 });
    turn.onTimeout(async () => log.push("onTimeout"));
    await expect(turn.returning()).rejects.toThrow(TurnTimeoutError);
    expect(log).toEqual(["clean", "onTimeout"]);
    expect(warnings).toEqual([]);
  });

  test("does not complete after all by returning when it is aborted", async () => {
    const quick = tool("quick", "", {}, async (_input, { signal }) => {
      await abortOf(signal);
      return "partial";
    });
    const turn = new Turn(quick, {}, { timeoutMs: 2 });
    await expect(turn.returning()).rejects.toThrow(TurnTimeoutError);
    expect(turn.output).toBeUndefined();
  });

  test("is only warned of when it fails while it is stopping", async () => {
    const warnings = collectWarnings();
    const clumsy = tool("clumsy", "", {}, async (_input, { signal }) => {
      await abortOf(signal);
      throw new Error("cannot even stop");
    });
    const turn = new Turn(clumsy, {}, { timeoutMs: 2 });
    await expect(turn.returning()).rejects.toThrow(TurnTimeoutError);
    expect(turn.stopReason).toBe("timeout");
    expect(warnings).toEqual(["The tool 'clumsy' failed while it was stopping."]);
  });

  test("does not fire its onError, only the turn's onTimeout", async () => {
    const fired: string[] = [];
    const stuck = tool(
      { name: "stuck", description: "", timeoutMs: 2, registry },
      async (_input, { signal }) => {
        await abortOf(signal);
        throw new Error("on the way out");
      },
    );
    collectWarnings();
    stuck.onError(async () => fired.push("tool.onError"));
    stuck.afterInvoke(async () => fired.push("tool.afterInvoke"));
    const turn = new Turn(stuck);
    turn.onError(async () => fired.push("turn.onError"));
    turn.afterRun(async () => fired.push("turn.afterRun"));
    turn.onTimeout(async (it) => fired.push(`turn.onTimeout ${it.stopReason}`));
    await expect(turn.returning()).rejects.toThrow(TurnTimeoutError);
    expect(fired).toEqual(["turn.onTimeout timeout"]);
  });

  test("leaves a turn that can be run again", async () => {
    let calls = 0;
    const slowAtFirst = tool("slow", "", {}, async (_input, { signal }) => {
      calls += 1;
      if (calls === 1) await abortOf(signal);
      return calls;
    });
    const turn = new Turn(slowAtFirst, {}, { timeoutMs: 2 });
    await expect(turn.returning()).rejects.toThrow(TurnTimeoutError);
    turn.timeoutMs = 60_000;
    expect(await turn.returning()).toBe(2);
    expect(turn.stopReason).toBe("completed");
  });
});

describe("an error that only looks like a timeout", () => {
  test.each([
    ["a DOMException", () => new DOMException("The operation timed out.", "TimeoutError")],
    ["an error of that name", () => Object.assign(new Error("slow database"), { name: "TimeoutError" })],
    ["a TurnTimeoutError of its own", () => new TurnTimeoutError("other", 5)],
  ])("and is the tool's own is an error: %s", async (_kind, make) => {
    const error = make();
    const fired: unknown[] = [];
    const work = tool({ name: "work", description: "", registry }, async () => {
      throw error;
    });
    work.onError(async (thrown) => fired.push(thrown));
    const turn = new Turn(work);
    turn.onTimeout(async () => fired.push("onTimeout"));
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn.stopReason).toBe("error");
    expect(fired).toEqual([error]);
  });

  test("and is a stream's own is an error too", async () => {
    const error = new DOMException("The operation timed out.", "TimeoutError");
    const work = tool("work", "", {}, async function* () {
      yield 1;
      throw error;
    });
    const turn = new Turn(work);
    await expect(Array.fromAsync(turn.yielding())).rejects.toBe(error);
    expect(turn.stopReason).toBe("error");
  });

  test("and comes from a turn inside is an error of the outer turn", async () => {
    const inner = new Turn(
      tool("inner", "", {}, (_input, { signal }) => abortOf(signal)),
      {},
      { timeoutMs: 2 },
    );
    const outer = new Turn(tool("outer", "", {}, () => inner.returning()));
    await expect(outer.returning()).rejects.toMatchObject({ toolName: "inner" });
    expect(inner.stopReason).toBe("timeout");
    expect(outer.stopReason).toBe("error");
  });
});

describe("the time of a turn", () => {
  test("is counted over the whole stream, not for each value", async () => {
    stopTheClock();
    const steady = tool("steady", "", {}, async function* () {
      for (let n = 1; ; n += 1) {
        await pass(40);
        yield n;
      }
    });
    const seen: unknown[] = [];
    const turn = new Turn(steady, {}, { timeoutMs: 100 });
    const consume = async () => {
      for await (const value of turn.yielding()) seen.push(value);
    };
    await expect(consume()).rejects.toThrow(TurnTimeoutError);
    expect(seen).toEqual([1, 2]);
  });

  test("does not count a slow consumer", async () => {
    stopTheClock();
    const quick = tool("quick", "", {}, async function* () {
      for (const n of [1, 2, 3]) {
        await pass(20);
        yield n;
      }
    });
    const turn = new Turn(quick, {}, { timeoutMs: 100 });
    const seen: unknown[] = [];
    for await (const value of turn.yielding()) {
      seen.push(value);
      await pass(1_000);
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(turn.stopReason).toBe("completed");
  });

  test("does not count a slow consumer of a locked stream that already ended", async () => {
    stopTheClock();
    const quick = tool(
      { name: "quick", description: "", lock: true, timeoutMs: 100, registry },
      async function* () {
        yield* [1, 2, 3];
      },
    );
    const turn = new Turn(quick);
    for await (const _ of turn.yielding()) await pass(1_000);
    expect(turn).toMatchObject({ stopReason: "completed", output: [1, 2, 3] });
  });

  test("does not count slow hooks", async () => {
    stopTheClock();
    const quick = tool({ name: "quick", description: "", timeoutMs: 100, registry }, async function* () {
      await pass(20);
      yield 1;
      await pass(20);
      yield 2;
    });
    const slow = async () => pass(1_000);
    quick.beforeInvoke(slow);
    quick.onYield(slow);
    quick.afterInvoke(slow);
    const turn = new Turn(quick);
    turn.beforeRun(slow);
    turn.afterRun(slow);
    expect(await Array.fromAsync(turn.yielding())).toEqual([1, 2]);
    expect(turn.stopReason).toBe("completed");
  });

  test("does not count the working out of lazy input", async () => {
    stopTheClock();
    const echo = tool("echo", "", { text: String }, ({ text }) => text);
    const late = async () => {
      await pass(1_000);
      return "late";
    };
    expect(await new Turn(echo, { text: late }, { timeoutMs: 100 }).returning()).toBe("late");
  });

  test("does not count waiting for the tool's lock", async () => {
    stopTheClock();
    const gate = Promise.withResolvers<void>();
    const locked = tool(
      { name: "locked", description: "", input: { first: Boolean }, lock: true, registry },
      async ({ first }) => {
        if (first) await gate.promise;
        else await pass(80);
      },
    );
    const holding = new Turn(locked, { first: true }).returning();
    const waiting = new Turn(locked, { first: false }, { timeoutMs: 100 });
    const waited = waiting.returning();
    await pass(80);
    gate.resolve();
    await Promise.all([holding, waited]);
    expect(waiting.stopReason).toBe("completed");
  });

  test("that expires between two values ends the stream before the tool continues", async () => {
    const log: string[] = [];
    const busy = tool("busy", "", {}, async function* () {
      try {
        // Nothing can interrupt this: the limit is noticed only when the next value is asked for.
        const until = performance.now() + 4;
        while (performance.now() < until);
        yield "late";
        log.push("went on");
      } finally {
        log.push("cleanup");
      }
    });
    const turn = new Turn(busy, {}, { timeoutMs: 2 });
    const run = turn.yielding();
    expect(await run.next()).toEqual({ done: false, value: "late" });
    await expect(run.next()).rejects.toThrow(TurnTimeoutError);
    expect(log).toEqual(["cleanup"]);
    expect(turn.stopReason).toBe("timeout");
  });

  test("has no end with Infinity, and no timer", async () => {
    stopTheClock();
    let timers = -1;
    const slow = tool("slow", "", {}, async () => {
      timers = vi.getTimerCount();
      await pass(10 ** 9);
      return "at last";
    });
    const turn = new Turn(slow, {}, { timeoutMs: Number.POSITIVE_INFINITY });
    expect(await turn.returning()).toBe("at last");
    expect(timers).toBe(0);
  });

  test("may be longer than setTimeout can count", async () => {
    stopTheClock();
    const slow = tool("slow", "", {}, async () => {
      await pass(1_000);
      return "at last";
    });
    expect(await new Turn(slow, {}, { timeoutMs: 2 ** 40 }).returning()).toBe("at last");
  });

  test("leaves no timer behind, however the turn ends", async () => {
    stopTheClock();
    const controller = new AbortController();
    const work = tool("work", "", { how: String }, async ({ how }, { signal }) => {
      if (how === "timeout") await pass(100);
      if (how === "error") throw new Error("failed");
      if (how === "cancelled") controller.abort();
      return signal.aborted;
    });
    const stopReasons: unknown[] = [];
    for (const how of ["completed", "error", "timeout", "cancelled"]) {
      const turn = new Turn(work, { how }, { timeoutMs: 50 });
      await turn.returning({ signal: controller.signal }).catch(() => {});
      stopReasons.push(turn.stopReason);
    }
    expect(stopReasons).toEqual(["completed", "error", "timeout", "cancelled"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a lock that is not free in time", () => {
  /** A locked tool that holds its lock until the gate opens, if it is told to. */
  function makeLocked() {
    const gate = Promise.withResolvers<void>();
    const calls: string[] = [];
    const locked = tool(
      { name: "locked", description: "", input: { id: String }, lock: true, registry },
      async ({ id }) => {
        calls.push(id);
        if (id === "holder") await gate.promise;
      },
    );
    return { locked, calls, open: gate.resolve };
  }

  test("is a LockTimeoutError: an error of the turn, whose tool never ran", async () => {
    const { locked, calls, open } = makeLocked();
    const fired: unknown[] = [];
    const holding = new Turn(locked, { id: "holder" }).returning();
    const turn = new Turn(locked, { id: "waiter" }, { timeoutMs: 2 });
    locked.onError(async () => fired.push("tool.onError"));
    turn.onTimeout(async () => fired.push("turn.onTimeout"));
    turn.onError(async (_turn, error) => fired.push(error));
    await expect(turn.returning()).rejects.toThrow(LockTimeoutError);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
    expect(fired).toEqual([expect.objectContaining({ code: "lock_timeout", timeoutMs: 2 })]);
    expect(calls).toEqual(["holder"]);
    open();
    await holding;
  });

  test("also applies to a stream, and the lock is passed on", async () => {
    const gate = Promise.withResolvers<void>();
    const locked = tool({ name: "locked", description: "", lock: true, registry }, async function* () {
      yield 1;
      await gate.promise;
    });
    const holder = new Turn(locked).yielding();
    await holder.next();
    await expect(new Turn(locked, {}, { timeoutMs: 2 }).yielding().next()).rejects.toThrow(LockTimeoutError);
    gate.resolve();
    await Array.fromAsync(holder);
    expect(await Array.fromAsync(new Turn(locked).yielding())).toEqual([1]);
  });

  test("stays with a tool that was left behind until it really ends", async () => {
    collectWarnings();
    const { locked, calls, open } = makeLocked();
    const deaf = new Turn(locked, { id: "holder" }, { timeoutMs: 2 });
    await expect(deaf.returning({ graceMs: 2 })).rejects.toThrow(TurnTimeoutError);
    await expect(new Turn(locked, { id: "early" }, { timeoutMs: 2 }).returning()).rejects.toThrow(
      LockTimeoutError,
    );
    open();
    await new Turn(locked, { id: "late" }).returning();
    expect(calls).toEqual(["holder", "late"]);
  });
});
