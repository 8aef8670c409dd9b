import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { Registry, Turn, tool } from "../index.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

const count = tool("count", "Count up.", { to: Number }, async function* ({ to }) {
  for (let n = 1; n <= to; n += 1) yield n;
});

/** A tool with progress and a result. */
const download = tool("download", "Download.", {}, async function* () {
  yield 0.5;
  yield 1;
  return { bytes: 10 };
});

describe("yielding()", () => {
  test("gives the values as they come, and the list of them is the output", async () => {
    const turn = new Turn(count, { to: 3 });
    const seen: unknown[] = [];
    for await (const value of turn.yielding()) seen.push([value, turn.isRunning, turn.output]);
    expect(seen).toEqual([
      [1, true, undefined],
      [2, true, undefined],
      [3, true, undefined],
    ]);
    expect(turn).toMatchObject({
      stopReason: "completed",
      output: [1, 2, 3],
      hasReturned: false,
      isRunning: false,
    });
  });

  test("runs nothing before the first value is asked for", async () => {
    const turn = new Turn(count, { to: 1 });
    const run = turn.yielding();
    expect(turn).toMatchObject({ isRunning: false, attempts: 0, startTime: null });
    await run.next();
    expect(turn).toMatchObject({ isRunning: true, attempts: 1 });
    await run.return();
  });

  test("of a generator that yields nothing completes with an empty list, and afterRun fires", async () => {
    const seen: unknown[] = [];
    const turn = new Turn(count, { to: 0 });
    turn.afterRun(async (_turn, output) => seen.push(output));
    expect(await Array.fromAsync(turn.yielding())).toEqual([]);
    expect(turn).toMatchObject({ stopReason: "completed", output: [], hasReturned: false });
    expect(seen).toEqual([[]]);
  });

  test.each([null, undefined, false, 0, ""])(
    "gives a yielded %s as a value, which does not end the stream",
    async (value) => {
      const turn = new Turn(
        tool("odd", "", {}, async function* () {
          yield value;
          yield "last";
        }),
      );
      expect(await Array.fromAsync(turn.yielding())).toEqual([value, "last"]);
      expect(turn.output).toEqual([value, "last"]);
    },
  );

  test("yields the values before an error, then throws that error; the output is undefined", async () => {
    const error = new RangeError("too far");
    const turn = new Turn(
      tool("fail", "", {}, async function* () {
        yield 1;
        throw error;
      }),
    );
    const run = turn.yielding();
    expect(await run.next()).toEqual({ done: false, value: 1 });
    await expect(run.next()).rejects.toBe(error);
    expect(turn).toMatchObject({ stopReason: "error", output: undefined, isRunning: false });
    expect(await run.next()).toEqual({ done: true, value: undefined });
  });

  test("passes the aggregated list to afterRun and afterInvoke", async () => {
    const seen: unknown[] = [];
    const stream = tool({ name: "stream", description: "", registry }, async function* () {
      yield "a";
      yield "b";
    });
    stream.afterInvoke(async (values) => seen.push(["afterInvoke", values]));
    const turn = new Turn(stream);
    turn.afterRun(async (_turn, output) => seen.push(["afterRun", output]));
    await Array.fromAsync(turn.yielding());
    expect(seen).toEqual([
      ["afterInvoke", ["a", "b"]],
      ["afterRun", ["a", "b"]],
    ]);
  });
});

describe("a generator that returns a value", () => {
  test("has it as its output, and the list of values is not kept", async () => {
    const turn = new Turn(download);
    expect(await Array.fromAsync(turn.yielding())).toEqual([0.5, 1]);
    expect(turn).toMatchObject({ output: { bytes: 10 }, hasReturned: true, stopReason: "completed" });
  });

  test("passes it to afterInvoke and afterRun", async () => {
    const seen: unknown[] = [];
    const stream = tool({ name: "stream", description: "", registry }, async function* () {
      yield "progress";
      return "result";
    });
    stream.afterInvoke(async (result) => seen.push(result));
    const turn = new Turn(stream);
    turn.afterRun(async (_turn, output) => seen.push(output));
    await Array.fromAsync(turn.yielding());
    expect(seen).toEqual(["result", "result"]);
  });

  test("gives it as the return value of the iteration", async () => {
    const run = new Turn(download).yielding();
    const steps = [await run.next(), await run.next(), await run.next()];
    expect(steps.at(-1)).toEqual({ done: true, value: { bytes: 10 } });
  });

  test("may return null, which is a result and not nothing", async () => {
    const turn = new Turn(
      tool("empty", "", {}, async function* () {
        yield 1;
        return null;
      }),
    );
    await Array.fromAsync(turn.yielding());
    expect(turn).toMatchObject({ output: null, hasReturned: true });
  });

  test("may return without having yielded", async () => {
    const turn = new Turn(
      tool("direct", "", {}, async function* () {
        for (const value of [] as number[]) yield value;
        return "result";
      }),
    );
    expect(await Array.fromAsync(turn.yielding())).toEqual([]);
    expect(turn.output).toBe("result");
  });

  test("is typed by it, and one that returns nothing by the list of its values", () => {
    expectTypeOf(new Turn(download).output).toEqualTypeOf<{ bytes: number } | undefined>();
    expectTypeOf(new Turn(count, { to: 1 }).output).toEqualTypeOf<number[] | undefined>();
  });
});

describe("the pace of a stream", () => {
  /** Notes each step that the tool takes. */
  function makeStepping(lock: boolean) {
    const log: string[] = [];
    const ended = Promise.withResolvers<void>();
    const stepping = tool({ name: "stepping", description: "", lock, registry }, async function* () {
      for (const step of [1, 2, 3]) {
        log.push(`makes ${step}`);
        yield step;
      }
      log.push("ends");
      ended.resolve();
    });
    return { stepping, log, ended: ended.promise };
  }

  test("is the consumer's: the tool makes a value only when it is asked for", async () => {
    const { stepping, log } = makeStepping(false);
    for await (const value of new Turn(stepping).yielding()) {
      await new Promise(setImmediate);
      log.push(`took ${value}`);
    }
    expect(log).toEqual(["makes 1", "took 1", "makes 2", "took 2", "makes 3", "took 3", "ends"]);
  });

  test("is the tool's own if it is locked: an idle consumer does not hold the lock", async () => {
    const { stepping, log, ended } = makeStepping(true);
    const idle = new Turn(stepping).yielding();
    await idle.next();
    // The consumer does not ask for more, and still the tool gets to its end and another turn to the lock.
    await ended;
    expect(await Array.fromAsync(new Turn(stepping).yielding())).toEqual([1, 2, 3]);
    expect(log).toEqual(["makes 1", "makes 2", "makes 3", "ends", "makes 1", "makes 2", "makes 3", "ends"]);
    expect(await Array.fromAsync(idle)).toEqual([2, 3]);
  });

  test("does not let the runs of a locked stream overlap", async () => {
    let inside = 0;
    let most = 0;
    const locked = tool({ name: "locked", description: "", lock: true, registry }, async function* () {
      inside += 1;
      most = Math.max(most, inside);
      yield 1;
      await new Promise(setImmediate);
      yield 2;
      inside -= 1;
    });
    const turns = [1, 2, 3].map(() => new Turn(locked));
    await Promise.all(turns.map((turn) => Array.fromAsync(turn.yielding())));
    expect(most).toBe(1);
    expect(turns.map(({ output }) => output)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  test("keeps the values of a locked stream that come before its error", async () => {
    const locked = tool({ name: "locked", description: "", lock: true, registry }, async function* () {
      yield 1;
      yield 2;
      throw new Error("after two");
    });
    const seen: unknown[] = [];
    const consume = async () => {
      for await (const value of new Turn(locked).yielding()) {
        seen.push(value);
        await new Promise(setImmediate);
      }
    };
    await expect(consume()).rejects.toThrow("after two");
    expect(seen).toEqual([1, 2]);
  });
});
