import { afterEach, describe, expect, test } from "vitest";
import { InvalidTypeError, UnregisteredToolError, WrongRunMethodError } from "../errors.ts";
import {
  InvalidArgumentError,
  InvalidInputError,
  Registry,
  SafeExecutionError,
  Turn,
  tool,
} from "../index.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const count = tool("count", "Count up.", { to: Number }, async function* ({ to }) {
  for (let n = 1; n <= to; n += 1) yield n;
});

/** A tool that waits at a gate, and tells when it has got there. */
function makeGated() {
  const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const gated = tool("gated", "Wait.", {}, async () => {
    started.resolve();
    return gate.promise;
  });
  return { gated, started: started.promise, open: gate.resolve };
}

describe("a turn", () => {
  test("binds the tool itself to its input", async () => {
    const turn = new Turn(add, { a: 1, b: 2 });
    expect(turn.tool).toBe(add);
    expect(turn.input).toEqual({ a: 1, b: 2 });
    expect(await turn.returning()).toBe(3);
  });

  test("finds its tool by name when it is made", async () => {
    const look = tool({ name: "look", description: "", registry }, async () => "seen");
    const turn = new Turn("look", {}, { registry });
    expect(turn.tool).toBe(look);
    expect(turn.registry).toBe(registry);
    expect(await turn.returning()).toBe("seen");
  });

  test("finds a subtool by its full name only", () => {
    const users = tool({ name: "users", description: "", registry }, async () => 1);
    const create = users.subtool({ name: "create", description: "" }, async () => 1);
    expect(new Turn("users.create", {}, { registry }).tool).toBe(create);
    expect(() => new Turn("create", {}, { registry })).toThrow(UnregisteredToolError);
  });

  test("cannot be made of a tool that does not exist yet", () => {
    expect(() => new Turn("look", {}, { registry })).toThrow(UnregisteredToolError);
    expect(() => new Turn("look", {}, { registry })).toThrow("The tool 'look' was not found.");
  });

  test.each([undefined, null, 7, {}, () => 1])("cannot be made of %s", (given) => {
    expect(() => new Turn(given as never)).toThrow(InvalidTypeError);
    expect(() => new Turn(given as never)).toThrow("tool: expected a tool, or the name of one");
  });

  test("knows nothing of a run before its first", () => {
    const turn = new Turn(add, { a: 1, b: 2 });
    expect(turn).toMatchObject({
      isRunning: false,
      attempts: 0,
      startTime: null,
      endTime: null,
      stopReason: null,
      output: undefined,
      hasReturned: false,
    });
  });

  test("has a time limit of 60,000 ms, else the tool's, else its own", () => {
    const slow = tool({ name: "slow", description: "", timeoutMs: 5, registry }, async () => 1);
    expect(new Turn(add, { a: 1, b: 2 }).timeoutMs).toBe(60_000);
    expect(new Turn(slow).timeoutMs).toBe(5);
    expect(new Turn(slow, {}, { timeoutMs: Number.POSITIVE_INFINITY }).timeoutMs).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  test("has its own identity", () => {
    const [one, other] = [new Turn(add, { a: 1, b: 2 }), new Turn(add, { a: 1, b: 2 })];
    expect(one.uuid).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.uuid).not.toBe(other.uuid);
    expect(new Turn(add, { a: 1, b: 2 }, { uuid: "mine" }).uuid).toBe("mine");
  });

  test("has free metadata, which is copied", () => {
    const metadata = { user: { name: "Ada" } };
    const turn = new Turn(add, { a: 1, b: 2 }, { metadata });
    metadata.user.name = "Bob";
    expect(turn.metadata).toEqual({ user: { name: "Ada" } });
    expect(new Turn(add, { a: 1, b: 2 }).metadata).toEqual({});
  });

  test.each([
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: -1 }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["timeoutMs", { timeoutMs: "5" }],
    ["metadata", { metadata: [] }],
    ["tags", { tags: "a" }],
    ["source", { source: "robot" }],
    ["callId", { callId: 7 }],
    ["uuid", { uuid: 7 }],
    ["options.timeout", { timeout: 5 }],
    ["options", "fast"],
  ])("refuses a wrong %s and says so", (field, options) => {
    expect(() => new Turn(add, { a: 1, b: 2 }, options as never)).toThrow(`${field}: expected`);
  });

  test.each([["a"], "text", 7, new Map()])("refuses %s as input", (input) => {
    expect(() => new Turn(add, input as never)).toThrow("input: expected a plain object");
  });
});

describe("returning()", () => {
  test("runs the tool and records the outcome", async () => {
    const turn = new Turn(add, { a: 1, b: 2 });
    expect(await turn.returning()).toBe(3);
    expect(turn).toMatchObject({ stopReason: "completed", output: 3, hasReturned: true, isRunning: false });
    expect(turn.startTime).toBeInstanceOf(Date);
    expect(turn.endTime).toBeInstanceOf(Date);
    expect(turn.endTime?.getTime()).toBeGreaterThanOrEqual(turn.startTime?.getTime() ?? Number.NaN);
  });

  test.each([null, undefined, false, 0, ""])("gives %s as it is", async (value) => {
    const turn = new Turn(tool("give", "", {}, () => value));
    expect(await turn.returning()).toBe(value);
    expect(turn).toMatchObject({ stopReason: "completed", output: value, hasReturned: true });
  });

  test("gives a turn that the tool returns, without running it", async () => {
    const inner = new Turn(add, { a: 1, b: 2 });
    const outer = new Turn(tool("plan", "", {}, () => inner));
    expect(await outer.returning()).toBe(inner);
    expect(outer.output).toBe(inner);
    expect(inner.stopReason).toBeNull();
  });

  test("rethrows the very error of the tool, and the output is undefined", async () => {
    const error = new RangeError("too far");
    const turn = new Turn(
      tool("fail", "", {}, () => {
        throw error;
      }),
    );
    await expect(turn.returning()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
    expect(turn.endTime).toBeInstanceOf(Date);
  });

  test("checks the input before the tool runs", async () => {
    let calls = 0;
    const strict = tool("strict", "", { a: Number }, () => {
      calls += 1;
    });
    const turn = new Turn(strict, { a: "one" as never });
    await expect(turn.returning()).rejects.toThrow(InvalidInputError);
    expect(calls).toBe(0);
    expect(turn.stopReason).toBe("error");
  });

  test("gives the tool its turn, a signal, the idempotency key and the attempt", async () => {
    const seen: unknown[] = [];
    const look = tool("look", "", {}, (_input, context) => {
      seen.push(context);
    });
    const turn = new Turn(look, {}, { callId: "call_1" });
    await turn.returning();
    expect(seen).toEqual([
      { turn, signal: expect.any(AbortSignal), idempotencyKey: turn.uuid, attempt: 1, callId: "call_1" },
    ]);
  });

  test.each([
    ["signal", { signal: {} }],
    ["graceMs", { graceMs: -1 }],
    ["options.timeoutMs", { timeoutMs: 5 }],
  ])("refuses a wrong %s before anything happens", async (field, options) => {
    const turn = new Turn(add, { a: 1, b: 2 });
    await expect(turn.returning(options as never)).rejects.toThrow(`${field}: expected`);
    expect(() => turn.yielding(options as never)).toThrow(`${field}: expected`);
    expect(turn).toMatchObject({ attempts: 0, stopReason: null, isRunning: false });
  });
});

describe("the wrong way to run a turn", () => {
  /** Notes which turn hooks fire. */
  function watchHooks(turn: Turn): unknown[] {
    const fired: unknown[] = [];
    turn.beforeRun(async () => fired.push("beforeRun"));
    turn.afterRun(async () => fired.push("afterRun"));
    turn.onError(async (_turn, error) => fired.push(error));
    turn.onComplete(async (_turn, stopReason) => fired.push(stopReason));
    return fired;
  }

  test("is returning() for a tool that streams: an error inside the run", async () => {
    const turn: Turn = new Turn(count, { to: 1 });
    const fired = watchHooks(turn);
    await expect(turn.returning()).rejects.toThrow(WrongRunMethodError);
    expect(fired).toEqual(["beforeRun", expect.any(WrongRunMethodError), "error"]);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
  });

  test("is yielding() for a tool that returns one value: an error inside the run", async () => {
    const turn: Turn = new Turn(add, { a: 1, b: 2 });
    const fired = watchHooks(turn);
    await expect(turn.yielding().next()).rejects.toThrow(WrongRunMethodError);
    expect(fired).toEqual(["beforeRun", expect.any(WrongRunMethodError), "error"]);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
  });

  test("is named in the error, with the right one", async () => {
    await expect(new Turn(count, { to: 1 }).returning()).rejects.toThrow(
      "The tool 'count' streams its values: run its turn with yielding(), not returning().",
    );
    await expect(new Turn(add, { a: 1, b: 2 }).yielding().next()).rejects.toThrow(
      "The tool 'add' returns one value: run its turn with returning(), not yielding().",
    );
  });
});

describe("a turn that is running", () => {
  test("cannot be run again by anyone else", async () => {
    const { gated, started, open } = makeGated();
    const turn = new Turn(gated);
    const running = turn.returning();
    await started;
    expect(turn.isRunning).toBe(true);
    await expect(turn.returning()).rejects.toThrow(SafeExecutionError);
    await expect(turn.yielding().next()).rejects.toThrow("is already running");
    expect(turn).toMatchObject({ isRunning: true, attempts: 1, stopReason: null });
    open("done");
    expect(await running).toBe("done");
  });

  test("cannot be run again by its own tool with returning()", async () => {
    const reentrant = tool(
      "reentrant",
      "",
      {},
      async (_input, { turn }): Promise<unknown> => turn.returning(),
    );
    const turn = new Turn(reentrant);
    await expect(turn.returning()).rejects.toThrow(SafeExecutionError);
    expect(turn).toMatchObject({ stopReason: "error", isRunning: false, attempts: 1 });
  });

  test("cannot be run again by its own tool with yielding()", async () => {
    const reentrant = tool("reentrant", "", {}, async function* (_input, { turn }): AsyncGenerator<
      unknown,
      void,
      void
    > {
      yield* turn.yielding();
    });
    const turn = new Turn(reentrant);
    await expect(turn.yielding().next()).rejects.toThrow(SafeExecutionError);
    expect(turn).toMatchObject({ stopReason: "error", isRunning: false, attempts: 1 });
  });

  test("is not disturbed by a second run that was refused", async () => {
    const caught: unknown[] = [];
    const patient = tool("patient", "", {}, async (_input, { turn }) => {
      await turn.returning().catch((error: unknown) => caught.push(error));
      return turn.isRunning;
    });
    const turn = new Turn(patient);
    expect(await turn.returning()).toBe(true);
    expect(caught).toEqual([expect.any(SafeExecutionError)]);
    expect(turn.stopReason).toBe("completed");
  });

  test.each([
    ["input", { text: "other" }],
    ["timeoutMs", 5],
    ["tags", ["other"]],
  ])("rejects changes of its %s until it ended", async (property, value) => {
    const { gated, started, open } = makeGated();
    const turn = new Turn(gated);
    const change = () => Object.assign(turn, { [property]: value });
    const running = turn.returning();
    await started;
    expect(change).toThrow(SafeExecutionError);
    expect(change).toThrow(`Cannot change property '${property}' while the turn is running.`);
    open("done");
    await running;
    expect(change).not.toThrow();
  });

  test("allows changes of its metadata, even by its tool", async () => {
    const noting = tool("noting", "", {}, (_input, { turn }) => {
      turn.metadata["steps"] = 1;
      turn.metadata = { ...turn.metadata, more: true };
    });
    const turn = new Turn(noting, {}, { metadata: { user: "Ada" } });
    await turn.returning();
    expect(turn.metadata).toEqual({ user: "Ada", steps: 1, more: true });
  });

  test("has a start and no end yet", async () => {
    const seen: unknown[] = [];
    const look = tool("look", "", {}, (_input, { turn }) => {
      seen.push(turn.startTime, turn.endTime, turn.stopReason, turn.isRunning);
    });
    await new Turn(look).returning();
    expect(seen).toEqual([expect.any(Date), null, null, true]);
  });
});

describe("a turn that is idle", () => {
  test("takes another input, time limit and tags, which count for the next run", async () => {
    const turn = new Turn(add, { a: 1, b: 2 });
    turn.input = { a: 3, b: 4 };
    turn.timeoutMs = 7;
    turn.tags = ["sum"];
    expect(turn.timeoutMs).toBe(7);
    expect([...turn.tags]).toEqual(["sum"]);
    expect(await turn.returning()).toBe(7);
  });

  test("refuses what would be refused at its making", () => {
    const turn = new Turn(add, { a: 1, b: 2 });
    expect(() => Object.assign(turn, { timeoutMs: 0 })).toThrow(InvalidArgumentError);
    expect(() => Object.assign(turn, { input: [] })).toThrow(InvalidTypeError);
    expect(() => Object.assign(turn, { tags: "a" })).toThrow(InvalidTypeError);
    expect(turn).toMatchObject({ timeoutMs: 60_000, input: { a: 1, b: 2 } });
  });
});

describe("an ended turn", () => {
  test("may be run again, and counts its attempts under one idempotency key", async () => {
    const seen: unknown[] = [];
    const look = tool("look", "", {}, (_input, { attempt, idempotencyKey }) => {
      seen.push([attempt, idempotencyKey]);
    });
    const turn = new Turn(look);
    await turn.returning();
    await turn.returning();
    expect(turn.attempts).toBe(2);
    expect(seen).toEqual([
      [1, turn.uuid],
      [2, turn.uuid],
    ]);
  });

  test("forgets the outcome of the run before when it starts again", async () => {
    const seen: unknown[] = [];
    let calls = 0;
    const flaky = tool("flaky", "", {}, (_input, { turn }) => {
      seen.push([turn.output, turn.stopReason, turn.endTime]);
      calls += 1;
      if (calls === 2) throw new Error("second time");
      return "fine";
    });
    const turn = new Turn(flaky);
    await turn.returning();
    await expect(turn.returning()).rejects.toThrow("second time");
    expect(turn).toMatchObject({ output: undefined, stopReason: "error", hasReturned: false });
    expect(await turn.returning()).toBe("fine");
    expect(turn).toMatchObject({ output: "fine", stopReason: "completed" });
    expect(seen).toEqual(Array.from({ length: 3 }, () => [undefined, null, null]));
  });

  test("streams all its values again", async () => {
    const turn = new Turn(count, { to: 2 });
    expect(await Array.fromAsync(turn.yielding())).toEqual([1, 2]);
    expect(await Array.fromAsync(turn.yielding())).toEqual([1, 2]);
    expect(turn.output).toEqual([1, 2]);
  });
});

describe("copy()", () => {
  test("is a turn that has not run, with the same tool, input and options and a new identity", async () => {
    const turn = new Turn(
      add,
      { a: 1, b: 2 },
      { timeoutMs: 5, metadata: { n: [1] }, tags: ["t"], source: "model", callId: "c", registry },
    );
    await turn.returning();
    const copy = turn.copy();
    expect(copy).toMatchObject({
      tool: add,
      input: { a: 1, b: 2 },
      timeoutMs: 5,
      metadata: { n: [1] },
      source: "model",
      callId: "c",
      attempts: 0,
      stopReason: null,
      output: undefined,
    });
    expect([...copy.tags]).toEqual(["t"]);
    expect(copy.registry).toBe(registry);
    expect(copy.uuid).not.toBe(turn.uuid);
    expect(await copy.returning()).toBe(3);
  });

  test("has its own metadata", () => {
    const turn = new Turn(add, { a: 1, b: 2 }, { metadata: { list: [1] } });
    const copy = turn.copy();
    (copy.metadata["list"] as number[]).push(2);
    expect(turn.metadata).toEqual({ list: [1] });
  });

  test("has the same hooks, which end one by one", async () => {
    const seen: unknown[] = [];
    const turn = new Turn(add, { a: 1, b: 2 });
    const own = turn.onComplete(async (it) => seen.push(it.uuid));
    const copy = turn.copy();
    own.unregister();
    await copy.returning();
    await turn.returning();
    expect(seen).toEqual([copy.uuid]);
  });

  test("keeps lazy values lazy", async () => {
    let calls = 0;
    const next = () => {
      calls += 1;
      return calls;
    };
    const copy = new Turn(add, { a: next, b: 0 }).copy();
    expect(calls).toBe(0);
    expect(await copy.returning()).toBe(1);
  });

  test("can be run while the turn is", async () => {
    const { gated, started, open } = makeGated();
    const turn = new Turn(gated);
    const running = turn.returning();
    await started;
    const copied = turn.copy().returning();
    open("done");
    expect(await Promise.all([running, copied])).toEqual(["done", "done"]);
  });
});

describe("turns of one tool", () => {
  test("serialize when the tool has a lock, though they start together", async () => {
    const log: string[] = [];
    const gates = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() };
    const firstStarted = Promise.withResolvers<void>();
    const locked = tool(
      { name: "locked", description: "", input: { id: String }, lock: true, registry },
      async ({ id }) => {
        log.push(`start ${id}`);
        firstStarted.resolve();
        await gates[id as "a" | "b"].promise;
        log.push(`end ${id}`);
      },
    );
    const running = [new Turn(locked, { id: "a" }).returning(), new Turn(locked, { id: "b" }).returning()];
    await firstStarted.promise;
    gates.b.resolve();
    await new Promise(setImmediate);
    expect(log).toEqual(["start a"]);
    gates.a.resolve();
    await Promise.all(running);
    expect(log).toEqual(["start a", "end a", "start b", "end b"]);
  });

  test("overlap when it has none", async () => {
    const log: string[] = [];
    const both = Promise.withResolvers<void>();
    const free = tool("free", "", {}, async () => {
      log.push("start");
      if (log.length === 2) both.resolve();
      await both.promise;
      log.push("end");
    });
    await Promise.all([new Turn(free).returning(), new Turn(free).returning()]);
    expect(log).toEqual(["start", "start", "end", "end"]);
  });

  test("that wait for a lock they already hold get an error", async () => {
    const locked = tool(
      { name: "locked", description: "", lock: true, registry },
      async (): Promise<unknown> => new Turn("locked", {}, { registry }).returning(),
    );
    const turn = new Turn(locked);
    await expect(turn.returning()).rejects.toThrow(SafeExecutionError);
    await expect(turn.returning()).rejects.toThrow("is held by the very code that waits for it");
  });
});
