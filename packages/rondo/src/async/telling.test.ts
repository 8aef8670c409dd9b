import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collectWarnings } from "../testkit/warnings.ts";
import { PulledEvents, passTo, RunLeft, type Tell } from "./telling.ts";

const end = { done: true, value: undefined };

describe("pulled events", () => {
  test("nothing happens before the first is asked for", async () => {
    let hasBegun = false;
    const pulled = new PulledEvents(async () => {
      hasBegun = true;
    });
    await Promise.resolve();
    expect(hasBegun).toBe(false);
    expect(await pulled.next()).toEqual(end);
    expect(hasBegun).toBe(true);
  });

  test("the work goes on when the next one is asked for", async () => {
    const done: number[] = [];
    const pulled = new PulledEvents<number>(async (tell) => {
      for (const number of [1, 2]) {
        await tell(number);
        done.push(number);
      }
    });
    expect(await pulled.next()).toEqual({ done: false, value: 1 });
    await new Promise(setImmediate);
    expect(done).toEqual([]);
    expect(await pulled.next()).toEqual({ done: false, value: 2 });
    expect(done).toEqual([1]);
    expect(await pulled.next()).toEqual(end);
    expect(done).toEqual([1, 2]);
  });

  test("come in order, however many are asked for at once, and whether the work waits or not", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 4 })),
        async (waits, asks) => {
          const pulled = new PulledEvents<number>(async (tell) => {
            for (const [index, isLate] of waits.entries()) {
              if (isLate) await Promise.resolve();
              const taken = tell(index);
              if (taken) await taken;
            }
          });
          const taken: number[] = [];
          for (const count of [...asks, ...waits.map(() => 1), 1])
            for (const step of await Promise.all(Array.from({ length: count }, () => pulled.next())))
              if (!step.done) taken.push(step.value);
          expect(taken).toEqual([...waits.keys()]);
          expect(await pulled.next()).toEqual(end);
        },
      ),
    );
  });

  test("an error of the work comes in their place, once", async () => {
    const pulled = new PulledEvents<number>(async (tell) => {
      await tell(1);
      throw new Error("broken");
    });
    await pulled.next();
    const steps = [pulled.next(), pulled.next()];
    await expect(steps[0]).rejects.toThrow("broken");
    expect(await steps[1]).toEqual(end);
    expect(await pulled.next()).toEqual(end);
    expect(await pulled.return()).toEqual(end);
  });

  test("work that waits is left where it waits, and that is no failure", async () => {
    const seen: unknown[] = [];
    const pulled = new PulledEvents<number>(async (tell) => {
      try {
        await tell(1);
      } catch (error) {
        seen.push(error);
        throw error;
      } finally {
        seen.push("cleaned up");
      }
    });
    await pulled.next();
    expect(await pulled.return()).toEqual(end);
    expect(seen).toEqual([expect.any(RunLeft), "cleaned up"]);
    expect(await pulled.next()).toEqual(end);
  });

  test("work that is busy is left where it tells the next one", async () => {
    const busy = Promise.withResolvers<void>();
    let isLeft = false;
    const pulled = new PulledEvents<number>(async (tell) => {
      await busy.promise;
      try {
        await tell(1);
      } catch (error) {
        isLeft = error instanceof RunLeft;
        throw error;
      }
    });
    const step = pulled.next();
    const left = pulled.return();
    busy.resolve();
    expect(await step).toEqual(end);
    expect(await left).toEqual(end);
    expect(isLeft).toBe(true);
  });

  test("what fails after work was left is thrown by return()", async () => {
    const pulled = new PulledEvents<number>(async (tell) => {
      await tell(1)?.catch(() => fail("not cleaned up"));
    });
    await pulled.next();
    await expect(pulled.return()).rejects.toThrow("not cleaned up");
    expect(await pulled.return()).toEqual(end);
  });

  test("of several that are asked for at once, the one that fails is settled first", async () => {
    const pulled = new PulledEvents(async () => fail("broken"));
    const settled: string[] = [];
    const note = (how: string) => () => void settled.push(how);
    const failing = pulled.next().then(note("event"), note("error"));
    await Promise.all([failing, pulled.next().then(note("end"), note("error"))]);
    expect(settled).toEqual(["error", "end"]);
  });

  test("work that asks for an event before it waits for anything does not begin again", async () => {
    let begun = 0;
    const inside: Promise<unknown>[] = [];
    const pulled: PulledEvents<number> = new PulledEvents(async (tell) => {
      begun += 1;
      inside.push(pulled.next());
      await tell(begun);
      await tell(2);
    });
    expect(await pulled.next()).toEqual({ done: false, value: 1 });
    expect(await inside[0]).toEqual({ done: false, value: 2 });
    expect(begun).toBe(1);
  });

  test("work that is left before it waits for anything is waited for", async () => {
    const order: string[] = [];
    let left: Promise<unknown> | undefined;
    const pulled: PulledEvents<number> = new PulledEvents(async () => {
      left = pulled.return().then(() => order.push("left"));
      await new Promise(setImmediate);
      order.push("cleaned up");
    });
    await pulled.next();
    await left;
    expect(order).toEqual(["cleaned up", "left"]);
  });

  test("work that never began is not begun to be left", async () => {
    let hasBegun = false;
    const pulled = new PulledEvents(async () => {
      hasBegun = true;
    });
    await pulled.return();
    expect(await pulled.next()).toEqual(end);
    expect(hasBegun).toBe(false);
  });
});

describe("events that are passed on", () => {
  const tellThree = async (tell: Tell<number>) => {
    for (const number of [1, 2, 3]) {
      const taken = tell(number);
      if (taken) await taken;
    }
    return "result";
  };

  test("come in order, and the work waits only where it is asked to", async () => {
    const seen: unknown[] = [];
    const result = await passTo(
      (number: number) => {
        seen.push(number);
        return number === 2 ? Promise.resolve().then(() => void seen.push("waited")) : undefined;
      },
      tellThree,
      {},
    );
    expect(result).toBe("result");
    expect(seen).toEqual([1, 2, "waited", 3]);
  });

  test.for([
    ["at once", () => fail()],
    ["later", async () => fail()],
  ] as const)("what the function throws %s ends the work, whose signal is aborted", async ([, take]) => {
    let inWork: AbortSignal | undefined;
    const seen: unknown[] = [];
    const passing = passTo(
      take,
      async (tell: Tell<number>, signal) => {
        inWork = signal;
        try {
          await tell(1);
        } finally {
          seen.push(signal.aborted, signal.reason);
          expect(() => tell(2)).toThrow(RunLeft);
        }
      },
      {},
    );
    await expect(passing).rejects.toThrow("cannot be taken");
    expect(seen).toEqual([true, expect.objectContaining({ name: "AbortError" })]);
    expect(inWork?.aborted).toBe(true);
  });

  test("an error of the work is passed on", async () => {
    const passing = passTo(
      () => undefined,
      async () => fail("broken"),
      {},
    );
    await expect(passing).rejects.toThrow("broken");
  });

  test("an abort from outside reaches the work with its reason, and no listener stays", async () => {
    const outside = new AbortController();
    const reason = new Error("enough");
    const { signal } = outside;
    const work = async (_: Tell<number>, inner: AbortSignal) => {
      outside.abort(reason);
      inner.throwIfAborted();
    };
    await expect(passTo(() => undefined, work, { signal })).rejects.toBe(reason);
    await expect(passTo(() => undefined, work, { signal })).rejects.toBe(reason);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("work that throws before it gives a promise leaves no listener", async () => {
    const { signal } = new AbortController();
    const passing = passTo(
      () => undefined,
      () => fail("broken"),
      { signal },
    );
    await expect(passing).rejects.toThrow("broken");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("cleanup is not waited for forever, and it is said", async () => {
    const warnings = collectWarnings();
    const never = new Promise<void>(() => {});
    const passing = passTo(
      () => fail(),
      async (tell: Tell<number>) => {
        try {
          await tell(1);
        } finally {
          await never;
        }
      },
      { graceMs: 1 },
    );
    await expect(passing).rejects.toThrow("cannot be taken");
    expect(warnings).toEqual([expect.stringContaining("has not finished its cleanup in time")]);
  });
});

function fail(message = "cannot be taken"): never {
  throw new Error(message);
}
