import { afterEach, describe, expect, test } from "vitest";
import { Agent, hook, Registry, type StopReason, type Tool, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

const turnEvents = [
  "turn.beforeRun",
  "turn.afterRun",
  "turn.onTimeout",
  "turn.onError",
  "turn.onComplete",
] as const;
const toolEvents = ["tool.beforeInvoke", "tool.onYield", "tool.afterInvoke", "tool.onError"] as const;

/** The names of all events of turns and tools, in the order in which they fire. */
function recordEvents(): string[] {
  const fired: string[] = [];
  for (const event of [...turnEvents, ...toolEvents])
    hook(event, async () => fired.push(event), { registry });
  return fired;
}

function makeAdd() {
  return tool(
    { name: "add", description: "", input: { a: Number, b: Number }, registry },
    async ({ a, b }) => a + b,
  );
}

function makeCount() {
  return tool({ name: "count", description: "", input: { to: Number }, registry }, async function* ({ to }) {
    for (let n = 1; n <= to; n += 1) yield n;
  });
}

function makeFailing() {
  return tool({ name: "fail", description: "", registry }, async () => {
    throw new RangeError("too far");
  });
}

function makeStuck() {
  return tool({ name: "stuck", description: "", timeoutMs: 1, registry }, async (_input, { signal }) => {
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
    return aborted.promise;
  });
}

describe("the hooks of one turn fire in order", () => {
  test("for a single value", async () => {
    const fired = recordEvents();
    const add = tool({ name: "add", description: "", registry }, async () => {
      fired.push("fn");
    });
    await new Turn(add).returning();
    expect(fired).toEqual([
      "turn.beforeRun",
      "tool.beforeInvoke",
      "fn",
      "tool.afterInvoke",
      "turn.afterRun",
      "turn.onComplete",
    ]);
  });

  test("for a stream", async () => {
    const fired = recordEvents();
    for await (const value of new Turn(makeCount(), { to: 2 }).yielding()) fired.push(`value ${value}`);
    expect(fired).toEqual([
      "turn.beforeRun",
      "tool.beforeInvoke",
      "tool.onYield",
      "value 1",
      "tool.onYield",
      "value 2",
      "tool.afterInvoke",
      "turn.afterRun",
      "turn.onComplete",
    ]);
  });

  test("for an error", async () => {
    const fired = recordEvents();
    await expect(new Turn(makeFailing()).returning()).rejects.toThrow("too far");
    expect(fired).toEqual([
      "turn.beforeRun",
      "tool.beforeInvoke",
      "tool.onError",
      "turn.onError",
      "turn.onComplete",
    ]);
  });

  test("for a timeout: neither afterRun nor any onError", async () => {
    const fired = recordEvents();
    await expect(new Turn(makeStuck()).returning()).rejects.toThrow("more than its 1 ms");
    expect(fired).toEqual(["turn.beforeRun", "tool.beforeInvoke", "turn.onTimeout", "turn.onComplete"]);
  });

  test("for an abort: neither afterRun nor any onError, onTimeout", async () => {
    const fired = recordEvents();
    const controller = new AbortController();
    const stuck = makeStuck();
    const reason = new Error("changed my mind");
    stuck.beforeInvoke(async () => controller.abort(reason));
    const turn = new Turn(stuck, {}, { timeoutMs: Number.POSITIVE_INFINITY });
    await expect(turn.returning({ signal: controller.signal })).rejects.toBe(reason);
    expect(fired).toEqual(["turn.beforeRun", "tool.beforeInvoke", "turn.onComplete"]);
  });

  test("for a stream that is left: afterInvoke with the values so far, and onComplete", async () => {
    const fired = recordEvents();
    const run = new Turn(makeCount(), { to: 3 }).yielding();
    await run.next();
    await run.return();
    expect(fired).toEqual([
      "turn.beforeRun",
      "tool.beforeInvoke",
      "tool.onYield",
      "tool.afterInvoke",
      "turn.onComplete",
    ]);
  });

  test("the turn's own, then its agent's, then the global ones", async () => {
    const fired: string[] = [];
    const add = makeAdd();
    const agent = new Agent({ name: "clerk", tools: [add], registry });
    const turn = new Turn(add, { a: 1, b: 2 });
    hook("turn.onComplete", async () => fired.push("global"), { registry });
    agent.onComplete(async () => fired.push("agent"));
    turn.onComplete(async () => fired.push("turn"));
    await turn.returning({ agent });
    expect(fired).toEqual(["turn", "agent", "global"]);
  });
});

describe("a hook of the turn and of its agent", () => {
  test.each<[StopReason, "onComplete" | "onError" | "onTimeout", () => Tool]>([
    ["error", "onError", makeFailing],
    ["timeout", "onTimeout", makeStuck],
    ["error", "onComplete", makeFailing],
  ])("fires once on %s, as %s", async (stopReason, method, makeTool) => {
    const seen: unknown[] = [];
    const note = async (turn: Turn) => seen.push(turn.stopReason);
    const work = makeTool();
    const agent = new Agent({ name: "clerk", tools: [work], registry });
    const turn = new Turn(work);
    turn[method](note);
    agent[method](note);
    await expect(turn.returning({ agent })).rejects.toThrow(Error);
    expect(seen).toEqual([stopReason]);
  });

  test("fires for turns of that agent alone", async () => {
    const seen: unknown[] = [];
    const add = makeAdd();
    const agent = new Agent({ name: "clerk", tools: [add], registry });
    agent.onComplete(async (turn) => seen.push(turn.uuid));
    const [inside, outside] = [new Turn(add, { a: 1, b: 2 }), new Turn(add, { a: 1, b: 2 })];
    await outside.returning();
    await inside.returning({ agent });
    expect(seen).toEqual([inside.uuid]);
    expect(inside.hooks).toEqual([]);
  });
});

describe("what a hook sees", () => {
  test("in beforeRun: a turn that runs and has no outcome", async () => {
    const seen: unknown[] = [];
    const turn = new Turn(makeAdd(), { a: 1, b: 2 });
    turn.beforeRun(async (it) => seen.push(it === turn, it.isRunning, it.startTime, it.stopReason));
    await turn.returning();
    expect(seen).toEqual([true, true, expect.any(Date), null]);
  });

  test("in afterRun: the output and the recorded outcome", async () => {
    const seen: unknown[] = [];
    const turn = new Turn(makeAdd(), { a: 1, b: 2 });
    turn.afterRun(async (it, output) =>
      seen.push(output, it.output, it.stopReason, it.endTime, it.isRunning),
    );
    await turn.returning();
    expect(seen).toEqual([3, 3, "completed", expect.any(Date), true]);
  });

  test("in onComplete: how the turn ended, while it is still running", async () => {
    const seen: unknown[] = [];
    const turn = new Turn(makeFailing());
    turn.onComplete(async (it, stopReason) => seen.push(stopReason, it.stopReason, it.isRunning));
    await expect(turn.returning()).rejects.toThrow("too far");
    expect(seen).toEqual(["error", "error", true]);
  });

  test("in any of them: it cannot run the turn again", async () => {
    const turn = new Turn(makeAdd(), { a: 1, b: 2 });
    turn.onComplete(async (it) => {
      await it.returning();
    });
    await expect(turn.returning()).rejects.toThrow("is already running");
    expect(turn.isRunning).toBe(false);
  });
});

describe("a hook that throws", () => {
  const error = new Error("from the hook");
  const refuse = async () => {
    throw error;
  };

  test("in beforeRun: the tool never runs, the turn has failed, and the rest still happens", async () => {
    let calls = 0;
    const seen: unknown[] = [];
    const work = tool({ name: "work", description: "", registry }, async () => {
      calls += 1;
    });
    const turn = new Turn(work);
    turn.beforeRun(refuse);
    turn.onError(async (_turn, thrown) => seen.push(thrown));
    turn.onComplete(async (_turn, stopReason) => seen.push(stopReason));
    await expect(turn.returning()).rejects.toBe(error);
    expect(calls).toBe(0);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
    expect(turn.endTime).toBeInstanceOf(Date);
    expect(seen).toEqual([error, "error"]);
  });

  test("in beforeRun of a stream: the same", async () => {
    const fired = recordEvents();
    const turn = new Turn(makeCount(), { to: 1 });
    turn.beforeRun(refuse);
    await expect(turn.yielding().next()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
    expect(fired).toEqual(["turn.onError", "turn.onComplete"]);
  });

  test("in beforeInvoke: the tool never runs, and its own onError stays silent", async () => {
    const fired = recordEvents();
    const work = tool({ name: "work", description: "", registry }, async () => {
      fired.push("fn");
    });
    work.beforeInvoke(refuse);
    const turn = new Turn(work);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined });
    expect(fired).toEqual(["turn.beforeRun", "turn.onError", "turn.onComplete"]);
  });

  test("in onYield: the stream ends there, its cleanup runs, and it has failed", async () => {
    const fired = recordEvents();
    const stream = tool({ name: "stream", description: "", registry }, async function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        fired.push("cleanup");
      }
    });
    stream.onYield(refuse);
    const turn = new Turn(stream);
    await expect(turn.yielding().next()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
    expect(fired).toEqual([
      "turn.beforeRun",
      "tool.beforeInvoke",
      "cleanup",
      "turn.onError",
      "turn.onComplete",
    ]);
  });

  test("in onYield of a locked stream: the lock is free again", async () => {
    const stream = tool({ name: "stream", description: "", lock: true, registry }, async function* () {
      yield 1;
    });
    const attached = stream.onYield(refuse);
    await expect(new Turn(stream).yielding().next()).rejects.toBe(error);
    attached.unregister();
    expect(await Array.fromAsync(new Turn(stream).yielding())).toEqual([1]);
  });

  test("in afterInvoke: the turn has failed though the tool has not", async () => {
    const fired = recordEvents();
    const add = makeAdd();
    add.afterInvoke(refuse);
    const turn = new Turn(add, { a: 1, b: 2 });
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined });
    expect(fired).toEqual(["turn.beforeRun", "tool.beforeInvoke", "turn.onError", "turn.onComplete"]);
  });

  test("in afterInvoke of a stream that is left: the turn fails, and leaving throws", async () => {
    const count = makeCount();
    count.afterInvoke(refuse);
    const turn = new Turn(count, { to: 3 });
    const run = turn.yielding();
    await run.next();
    await expect(run.return()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", isRunning: false });
  });

  test("in afterRun: the turn has failed, and its output is gone", async () => {
    const turn = new Turn(makeAdd(), { a: 1, b: 2 });
    turn.afterRun(refuse);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, hasReturned: false });
  });

  test("in the turn's onError: it replaces the original error, which is only warned of", async () => {
    const warnings = collectWarnings();
    const turn = new Turn(makeFailing());
    turn.onError(refuse);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn.stopReason).toBe("error");
    expect(warnings).toEqual([
      "A hook failed while a turn of the tool 'fail' was failing; the turn's own error was:",
    ]);
  });

  test("in the tool's onError: it replaces the original error", async () => {
    const warnings = collectWarnings();
    const failing = makeFailing();
    failing.onError(refuse);
    const turn = new Turn(failing);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn.stopReason).toBe("error");
    expect(warnings).toHaveLength(1); // which says what the tool itself had thrown
  });

  test("in onTimeout: it replaces the timeout error, and the turn still counts as timed out", async () => {
    collectWarnings();
    const turn = new Turn(makeStuck());
    turn.onTimeout(refuse);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "timeout", isRunning: false });
  });

  test("in onComplete: the turn keeps its outcome and can be used again", async () => {
    const turn = new Turn(makeAdd(), { a: 1, b: 2 });
    const attached = turn.onComplete(refuse);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "completed", output: 3, isRunning: false });
    turn.timeoutMs = 10;
    attached.unregister();
    expect(await turn.returning()).toBe(3);
  });

  test("in onComplete of a stream: the turn can be used again", async () => {
    const turn = new Turn(makeCount(), { to: 1 });
    const attached = turn.onComplete(refuse);
    await expect(Array.fromAsync(turn.yielding())).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "completed", output: [1], isRunning: false });
    attached.unregister();
    expect(await Array.fromAsync(turn.yielding())).toEqual([1]);
  });

  test("in onComplete of a turn that has failed: it replaces the error, which is only warned of", async () => {
    const warnings = collectWarnings();
    const turn = new Turn(makeFailing());
    turn.onComplete(refuse);
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", isRunning: false });
    expect(warnings).toEqual(["An onComplete hook failed; the error of the turn of the tool 'fail' was:"]);
  });
});

describe("onError hooks of a tool and of its turn", () => {
  test("get the same error, though only the turn's follows failures that are not the tool's", async () => {
    const seen: unknown[] = [];
    const add = makeAdd();
    add.onError(async (thrown) => seen.push(["tool", thrown]));
    const turn = new Turn(add, { a: "one" as never, b: 2 });
    turn.onError(async (_turn, thrown) => seen.push(["turn", (thrown as Error).name]));
    await expect(turn.returning()).rejects.toThrow("Invalid input");
    expect(seen).toEqual([["turn", "InvalidInputError"]]);
  });
});
