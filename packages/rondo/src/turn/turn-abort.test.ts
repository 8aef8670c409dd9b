import { getEventListeners } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { Registry, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

const reason = new Error("changed my mind");

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A tool that waits until it is aborted, and a promise that it has started. */
function makeWaiting() {
  const started = Promise.withResolvers<AbortSignal>();
  const waiting = tool({ name: "waiting", description: "", registry }, async (_input, { signal }) => {
    started.resolve(signal);
    await abortOf(signal);
    throw signal.reason;
  });
  return { waiting, started: started.promise };
}

/** A stream that notes how it goes. */
function makeStream(lock = false) {
  const log: string[] = [];
  const stream = tool(
    { name: "stream", description: "", lock, registry },
    async function* (_input, { signal }) {
      try {
        yield 10;
        yield 20;
        await abortOf(signal);
      } finally {
        log.push(signal.aborted ? "cleaned up, aborted" : "cleaned up");
      }
    },
  );
  return { stream, log };
}

/** Notes the hooks of the turn's end. */
function watchEnd(turn: Turn): unknown[] {
  const fired: unknown[] = [];
  turn.afterRun(async () => fired.push("afterRun"));
  turn.onTimeout(async () => fired.push("onTimeout"));
  turn.onError(async () => fired.push("onError"));
  turn.onComplete(async (_turn, stopReason) => fired.push(stopReason));
  return fired;
}

describe("an abort before the run", () => {
  test("keeps the tool from running; beforeRun and onComplete fire", async () => {
    let calls = 0;
    const work = tool("work", "", {}, () => {
      calls += 1;
    });
    const turn: Turn = new Turn(work);
    const fired = watchEnd(turn);
    work.beforeInvoke(async () => fired.push("beforeInvoke"));
    turn.beforeRun(async () => fired.push("beforeRun"));
    await expect(turn.returning({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(calls).toBe(0);
    expect(fired).toEqual(["beforeRun", "cancelled"]);
    expect(turn).toMatchObject({ stopReason: "cancelled", output: undefined, isRunning: false });
  });

  test("keeps a stream from running", async () => {
    const { stream, log } = makeStream();
    const turn: Turn = new Turn(stream);
    const fired = watchEnd(turn);
    stream.beforeInvoke(async () => fired.push("beforeInvoke"));
    await expect(turn.yielding({ signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
    expect(log).toEqual([]);
    expect(fired).toEqual(["cancelled"]);
    expect(turn).toMatchObject({ stopReason: "cancelled", output: [], isRunning: false });
  });

  test("of a stream counts also if it comes between yielding() and the first value", async () => {
    const controller = new AbortController();
    const turn = new Turn(makeStream().stream);
    const run = turn.yielding({ signal: controller.signal });
    controller.abort(reason);
    await expect(run.next()).rejects.toBe(reason);
    expect(turn.stopReason).toBe("cancelled");
  });
});

describe("an abort during the run", () => {
  test("reaches the tool's signal with its reason, which is thrown", async () => {
    const controller = new AbortController();
    const { waiting, started } = makeWaiting();
    const fired: unknown[] = [];
    waiting.onError(async () => fired.push("tool.onError"));
    waiting.afterInvoke(async () => fired.push("tool.afterInvoke"));
    const turn: Turn = new Turn(waiting);
    const ended = watchEnd(turn);
    const running = turn.returning({ signal: controller.signal });
    const signal = await started;
    expect(signal.aborted).toBe(false);
    controller.abort(reason);
    expect(signal.reason).toBe(reason);
    await expect(running).rejects.toBe(reason);
    expect(turn).toMatchObject({ stopReason: "cancelled", output: undefined, isRunning: false });
    expect(turn.endTime).toBeInstanceOf(Date);
    expect([...fired, ...ended]).toEqual(["cancelled"]);
  });

  test("ends a stream at its pending value, and the values so far are its output", async () => {
    const controller = new AbortController();
    const { stream, log } = makeStream();
    const seen: unknown[] = [];
    stream.afterInvoke(async (values) => seen.push(values));
    stream.onError(async () => seen.push("tool.onError"));
    const turn: Turn = new Turn(stream);
    const ended = watchEnd(turn);
    const run = turn.yielding({ signal: controller.signal });
    await run.next();
    await run.next();
    const pending = run.next();
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect(log).toEqual(["cleaned up, aborted"]);
    expect(seen).toEqual([[10, 20]]);
    expect(ended).toEqual(["cancelled"]);
    expect(turn).toMatchObject({ stopReason: "cancelled", output: [10, 20], isRunning: false });
  });

  test("of a stream whose consumer is idle is thrown when it asks for the next value", async () => {
    const controller = new AbortController();
    const { stream, log } = makeStream();
    const turn = new Turn(stream);
    const run = turn.yielding({ signal: controller.signal });
    await run.next();
    controller.abort(reason);
    await expect(run.next()).rejects.toBe(reason);
    expect(log).toEqual(["cleaned up, aborted"]);
    expect(turn).toMatchObject({ stopReason: "cancelled", output: [10] });
  });

  test("is not delayed by a tool that ignores it: the tool is left behind with a warning", async () => {
    const warnings = collectWarnings();
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const deaf = tool("deaf", "", {}, async () => {
      started.resolve();
      await gate.promise;
    });
    const controller = new AbortController();
    const turn = new Turn(deaf);
    const running = turn.returning({ signal: controller.signal, graceMs: 2 });
    await started.promise;
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(turn.stopReason).toBe("cancelled");
    expect(warnings).toEqual([expect.stringContaining("did not stop within 2 ms; it is left behind")]);
    gate.resolve();
  });

  test("cancels the turn even if the tool then returns a result or throws its own error", async () => {
    const warnings = collectWarnings();
    const answers = [
      () => "partial",
      () => {
        throw new Error("interrupted");
      },
    ];
    for (const answer of answers) {
      const controller = new AbortController();
      const started = Promise.withResolvers<void>();
      const polite = tool("polite", "", {}, async (_input, { signal }) => {
        started.resolve();
        await abortOf(signal);
        return answer();
      });
      const turn = new Turn(polite);
      const running = turn.returning({ signal: controller.signal });
      await started.promise;
      controller.abort(reason);
      await expect(running).rejects.toBe(reason);
      expect(turn).toMatchObject({ stopReason: "cancelled", output: undefined });
    }
    expect(warnings).toEqual(["The tool 'polite' failed while it was stopping."]);
  });

  test("keeps the tool from running if it comes while a hook runs before it", async () => {
    for (const before of ["beforeRun", "beforeInvoke"] as const) {
      let calls = 0;
      const work = tool("work", "", {}, () => {
        calls += 1;
      });
      const controller = new AbortController();
      const turn = new Turn(work);
      const abort = async () => controller.abort(reason);
      if (before === "beforeRun") turn.beforeRun(abort);
      else work.beforeInvoke(abort);
      await expect(turn.returning({ signal: controller.signal })).rejects.toBe(reason);
      expect(calls).toBe(0);
      expect(turn.stopReason).toBe("cancelled");
    }
  });

  test("ends the wait for a lock, and the lock goes to others", async () => {
    const [gate, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const calls: string[] = [];
    const locked = tool(
      { name: "locked", description: "", input: { id: String }, lock: true, registry },
      async ({ id }) => {
        calls.push(id);
        held.resolve();
        await gate.promise;
      },
    );
    const holding = new Turn(locked, { id: "holder" }).returning();
    await held.promise;
    const controller = new AbortController();
    const turn = new Turn(locked, { id: "gave up" });
    const waiting = turn.returning({ signal: controller.signal });
    const patient = new Turn(locked, { id: "patient" }).returning();
    await new Promise(setImmediate);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(turn.stopReason).toBe("cancelled");
    gate.resolve();
    await Promise.all([holding, patient]);
    expect(calls).toEqual(["holder", "patient"]);
  });

  test("has an AbortError as its reason unless given another", async () => {
    const controller = new AbortController();
    const { waiting, started } = makeWaiting();
    const running = new Turn(waiting).returning({ signal: controller.signal });
    await started;
    controller.abort();
    await expect(running).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  });
});

describe("an abort after the run", () => {
  test("changes nothing", async () => {
    const controller = new AbortController();
    const turn = new Turn(tool("work", "", {}, () => "done"));
    await turn.returning({ signal: controller.signal });
    controller.abort(reason);
    expect(turn).toMatchObject({ stopReason: "completed", output: "done" });
  });

  test("that comes while afterRun hooks are at work does not undo the result", async () => {
    const controller = new AbortController();
    const turn = new Turn(tool("work", "", {}, () => "done"));
    turn.afterRun(async () => controller.abort(reason));
    expect(await turn.returning({ signal: controller.signal })).toBe("done");
    expect(turn.stopReason).toBe("completed");
  });
});

describe("the signal of the caller", () => {
  test.each(["completed", "error", "timeout", "cancelled", "left"])(
    "has no listener left when the turn has ended: %s",
    async (how) => {
      const controller = new AbortController();
      const listeners = () => getEventListeners(controller.signal, "abort").length;
      let during = 0;
      const work = tool({ name: "work", description: "", registry }, async function* (_input, { signal }) {
        during = listeners();
        yield 1;
        if (how === "error") throw reason;
        if (how === "cancelled") controller.abort(reason);
        if (how === "timeout") await abortOf(signal);
      });
      const turn = new Turn(work, {}, { timeoutMs: how === "timeout" ? 2 : 60_000 });
      const consume = async () => {
        for await (const _ of turn.yielding({ signal: controller.signal })) if (how === "left") break;
      };
      await consume().catch(() => {});
      expect(turn.stopReason).toBe(how === "left" ? "cancelled" : how);
      expect(during).toBe(1);
      expect(listeners()).toBe(0);
    },
  );

  test("may serve many turns concurrently", async () => {
    const controller = new AbortController();
    const { waiting } = makeWaiting();
    const turns = Array.from({ length: 20 }, () => new Turn(waiting));
    const running = turns.map((turn) => turn.returning({ signal: controller.signal }));
    controller.abort(reason);
    for (const run of running) await expect(run).rejects.toBe(reason);
    expect(turns.every(({ stopReason }) => stopReason === "cancelled")).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

describe("leaving a stream", () => {
  test("with break aborts the tool, runs its cleanup and cancels the turn", async () => {
    const { stream, log } = makeStream();
    const seen: unknown[] = [];
    stream.afterInvoke(async (values) => seen.push(values));
    const turn: Turn = new Turn(stream);
    const fired = watchEnd(turn);
    for await (const _ of turn.yielding()) break;
    expect(log).toEqual(["cleaned up, aborted"]);
    expect(seen).toEqual([[10]]);
    expect(fired).toEqual(["cancelled"]);
    expect(turn).toMatchObject({
      stopReason: "cancelled",
      output: [10],
      hasReturned: false,
      isRunning: false,
    });
    expect(turn.endTime).toBeInstanceOf(Date);
  });

  test("by an error in the loop's body does the same, and that error comes out", async () => {
    const { stream, log } = makeStream();
    const turn = new Turn(stream);
    const consume = async () => {
      for await (const _ of turn.yielding()) throw reason;
    };
    await expect(consume()).rejects.toBe(reason);
    expect(log).toEqual(["cleaned up, aborted"]);
    expect(turn.stopReason).toBe("cancelled");
  });

  test("at the end of a block with `await using` does the same", async () => {
    const { stream, log } = makeStream();
    const turn = new Turn(stream);
    {
      await using run = turn.yielding();
      await run.next();
    }
    expect(log).toEqual(["cleaned up, aborted"]);
    expect(turn.stopReason).toBe("cancelled");
  });

  test("while a value is pending does not wait for it: the tool is aborted first", async () => {
    const { stream, log } = makeStream();
    const turn = new Turn(stream);
    const run = turn.yielding();
    await run.next();
    await run.next();
    const pending = run.next();
    await run.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(log).toEqual(["cleaned up, aborted"]);
    expect(turn).toMatchObject({ stopReason: "cancelled", output: [10, 20] });
  });

  test("cannot be held up by a tool that ignores its signal", async () => {
    const warnings = collectWarnings();
    const gate = Promise.withResolvers<void>();
    const deaf = tool("deaf", "", {}, async function* () {
      yield 1;
      await gate.promise;
    });
    const turn = new Turn(deaf);
    const run = turn.yielding({ graceMs: 2 });
    await run.next();
    const pending = run.next();
    await run.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(turn).toMatchObject({ stopReason: "cancelled", output: [1], isRunning: false });
    expect(warnings).toEqual([expect.stringContaining("did not stop within 2 ms; it is left behind")]);
    gate.resolve();
  });

  test("before its first value does not change the turn", async () => {
    const turn: Turn = new Turn(makeStream().stream);
    const fired = watchEnd(turn);
    const run = turn.yielding();
    await run.return();
    expect(await run.next()).toEqual({ done: true, value: undefined });
    expect(fired).toEqual([]);
    expect(turn).toMatchObject({ attempts: 0, stopReason: null, isRunning: false });
  });

  test("after its end, or twice, changes nothing", async () => {
    const turn: Turn = new Turn(
      tool("short", "", {}, async function* () {
        yield 1;
      }),
    );
    const fired = watchEnd(turn);
    const run = turn.yielding();
    await Array.fromAsync(run);
    await run.return();
    await run.return();
    expect(fired).toEqual(["afterRun", "completed"]);
    expect(turn).toMatchObject({ stopReason: "completed", output: [1] });
  });

  test("allows the turn to be run again immediately", async () => {
    const { stream } = makeStream();
    const turn = new Turn(stream);
    for await (const _ of turn.yielding()) break;
    for await (const value of turn.yielding()) if (value === 20) break;
    expect(turn).toMatchObject({ attempts: 2, output: [10, 20], stopReason: "cancelled" });
  });

  test("only warns when the tool's cleanup fails", async () => {
    const warnings = collectWarnings();
    const clumsy = tool("clumsy", "", {}, async function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        await Promise.reject(new Error("cannot close"));
      }
    });
    const turn = new Turn(clumsy);
    for await (const _ of turn.yielding()) break;
    expect(turn.stopReason).toBe("cancelled");
    expect(warnings).toEqual(["The tool 'clumsy' failed while it was stopping."]);
  });

  test("that is locked frees the lock", async () => {
    const { stream, log } = makeStream(true);
    for await (const _ of new Turn(stream).yielding()) break;
    expect(log).toEqual(["cleaned up, aborted"]);
    for await (const _ of new Turn(stream).yielding()) break;
    expect(log).toHaveLength(2);
  });

  test("that is locked and waits for its lock gives up its place", async () => {
    const { stream } = makeStream(true);
    const holder = new Turn(stream).yielding();
    await holder.next();
    const turn = new Turn(stream);
    const run = turn.yielding();
    const pending = run.next();
    await new Promise(setImmediate);
    await run.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(turn.stopReason).toBe("cancelled");
    await holder.return();
    expect(stream.lock?.isHeld).toBe(false);
  });
});

describe("how a turn ends", () => {
  test.each([
    ["completed", "result", "fine"],
    ["error", undefined, "throw"],
    ["timeout", undefined, "hang"],
    ["cancelled", undefined, "abort"],
  ])("with a single value: %s, and the output is %s", async (stopReason, output, what) => {
    const controller = new AbortController();
    const work = tool("work", "", {}, async (_input, { signal }) => {
      if (what === "throw") throw reason;
      if (what === "abort") controller.abort(reason);
      if (what !== "fine") await (signal.aborted || abortOf(signal));
      return "result";
    });
    const turn = new Turn(work, {}, { timeoutMs: what === "hang" ? 2 : 60_000 });
    await turn.returning({ signal: controller.signal }).catch(() => {});
    expect(turn).toMatchObject({ stopReason, output, hasReturned: stopReason === "completed" });
  });

  test.each([
    ["completed", [1, 2], "fine"],
    ["error", undefined, "throw"],
    ["timeout", undefined, "hang"],
    ["cancelled", [1], "abort"],
  ])("with a stream: %s, and the output is %s", async (stopReason, output, what) => {
    const controller = new AbortController();
    const work = tool("work", "", {}, async function* (_input, { signal }) {
      yield 1;
      if (what === "throw") throw reason;
      if (what === "abort") controller.abort(reason);
      if (what !== "fine") await (signal.aborted || abortOf(signal));
      yield 2;
    });
    const turn = new Turn(work, {}, { timeoutMs: what === "hang" ? 2 : 60_000 });
    await Array.fromAsync(turn.yielding({ signal: controller.signal })).catch(() => {});
    expect(turn).toMatchObject({ stopReason, output, hasReturned: false });
  });
});
