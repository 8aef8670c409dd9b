import { getEventListeners } from "node:events";
import { setImmediate as nextTick } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LockTimeoutError, SafeExecutionError } from "../error/execution-errors.ts";
import { type AcquireOptions, type Hold, Lock } from "./lock.ts";

test("a free lock is acquired immediately, and is free again after its release", async () => {
  const lock = new Lock("the test");
  expect(lock.isHeld).toBe(false);
  const hold = await lock.acquire();
  expect(lock.isHeld).toBe(true);
  expect(hold.isReleased).toBe(false);
  hold.release();
  expect(lock.isHeld).toBe(false);
  expect(hold.isReleased).toBe(true);
});

test("those who wait get the lock in the order in which they came", async () => {
  const lock = new Lock("the test");
  const first = await lock.acquire();
  const order: number[] = [];
  const waits = [1, 2, 3].map(async (number) => {
    const hold = await lock.acquire();
    order.push(number);
    hold.release();
  });
  first.release();
  await Promise.all(waits);
  expect(order).toEqual([1, 2, 3]);
});

test("a newcomer cannot slip in between a release and the next in line", async () => {
  const lock = new Lock("the test");
  const first = await lock.acquire();
  const order: string[] = [];
  const come = async (name: string) => {
    const hold = await lock.acquire();
    order.push(name);
    hold.release();
  };
  const waiting = come("waiting");
  first.release();
  await Promise.all([waiting, come("newcomer")]);
  expect(order).toEqual(["waiting", "newcomer"]);
});

test("a second release of the same hold does not release the next one's", async () => {
  const lock = new Lock("the test");
  const first = await lock.acquire();
  const waiting = lock.acquire();
  first.release();
  await waiting;
  first.release();
  expect(lock.isHeld).toBe(true);
});

describe("releaseWhen", () => {
  test("releases when the work is done", async () => {
    const lock = new Lock("the test");
    const hold = await lock.acquire();
    const work = Promise.withResolvers<void>();
    hold.releaseWhen(work.promise);
    await nextTick();
    expect(lock.isHeld).toBe(true);
    work.resolve();
    await nextTick();
    expect(lock.isHeld).toBe(false);
  });

  test("releases when the work has failed", async () => {
    const lock = new Lock("the test");
    const hold = await lock.acquire();
    hold.releaseWhen(Promise.reject(new Error("no")));
    await nextTick();
    expect(lock.isHeld).toBe(false);
  });

  test("releases immediately if there is no work", async () => {
    const lock = new Lock("the test");
    (await lock.acquire()).releaseWhen(undefined);
    expect(lock.isHeld).toBe(false);
  });
});

describe("a wait", () => {
  test("that is aborted ends with the signal's reason, and leaves no listener behind", async () => {
    const lock = new Lock("the test");
    await lock.acquire();
    const controller = new AbortController();
    const waiting = lock.acquire({ signal: controller.signal });
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("that is aborted gives its place to the next in line", async () => {
    const lock = new Lock("the test");
    const first = await lock.acquire();
    const controller = new AbortController();
    const aborted = lock.acquire({ signal: controller.signal });
    const next = lock.acquire();
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    first.release();
    expect((await next).isReleased).toBe(false);
  });

  test("with a signal that is aborted already does not begin, even if the lock is free", async () => {
    const lock = new Lock("the test");
    await expect(lock.acquire({ signal: AbortSignal.abort("before") })).rejects.toBe("before");
    expect(lock.isHeld).toBe(false);
  });

  test("that succeeded leaves no listener behind, and a later abort changes nothing", async () => {
    const lock = new Lock("the test");
    const first = await lock.acquire();
    const controller = new AbortController();
    const waiting = lock.acquire({ signal: controller.signal, timeoutMs: 60_000 });
    first.release();
    const hold = await waiting;
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort();
    expect(lock.isHeld).toBe(true);
    hold.release();
  });

  test("that takes too long ends with a LockTimeoutError that names the owner", async () => {
    const lock = new Lock("the tool 'write'");
    await lock.acquire();
    const error = await lock.acquire({ timeoutMs: 1 }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ timeoutMs: 1, message: expect.stringContaining("the tool 'write'") });
  });

  test("that has timed out is not served any more, and those behind it are", async () => {
    const lock = new Lock("the test");
    const first = await lock.acquire();
    const controller = new AbortController();
    const late = lock.acquire({ timeoutMs: 1, signal: controller.signal });
    const patient = lock.acquire();
    await expect(late).rejects.toThrow(LockTimeoutError);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    first.release();
    await expect(patient).resolves.toMatchObject({ isReleased: false });
  });
});

describe("code that holds the lock and waits for it", () => {
  test("fails with a SafeExecutionError instead of waiting forever", async () => {
    const lock = new Lock("the tool 'write'");
    const hold = await lock.acquire();
    const error = await hold.run(() => lock.acquire()).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SafeExecutionError);
    expect((error as Error).message).toContain("The lock of the tool 'write'");
  });

  test("is recognised after awaits, timers and calls of other functions", async () => {
    const lock = new Lock("the test");
    const hold = await lock.acquire();
    const deep = async () => {
      await nextTick();
      await Promise.resolve();
      return lock.acquire();
    };
    await expect(hold.run(async () => deep())).rejects.toThrow(SafeExecutionError);
  });

  test("is recognised through another lock that it took in between", async () => {
    const outer = new Lock("the outer");
    const inner = new Lock("the inner");
    const outerHold = await outer.acquire();
    const work = outerHold.run(async () => {
      const innerHold = await inner.acquire();
      return innerHold.run(async () => outer.acquire());
    });
    await expect(work).rejects.toThrow("The lock of the outer");
  });

  test("may take the lock again once it was released, also from a timer that was started before", async () => {
    const lock = new Lock("the test");
    const hold = await lock.acquire();
    const released = Promise.withResolvers<void>();
    const later = hold.run(async () => {
      await released.promise;
      return lock.acquire();
    });
    hold.release();
    released.resolve();
    await expect(later).resolves.toMatchObject({ isReleased: false });
  });

  test("may wait for the lock once it was released and someone else has it", async () => {
    const lock = new Lock("the test");
    const hold = await lock.acquire();
    const taken = Promise.withResolvers<void>();
    const later = hold.run(async () => {
      await taken.promise;
      return lock.acquire();
    });
    hold.release();
    const other = await lock.acquire();
    taken.resolve();
    await nextTick();
    other.release();
    await expect(later).resolves.toMatchObject({ isReleased: false });
  });

  test("is not confused with code beside it", async () => {
    const lock = new Lock("the test");
    const hold = await lock.acquire();
    const gate = Promise.withResolvers<void>();
    const work = hold.run(async () => gate.promise);
    const other = lock.acquire();
    gate.resolve();
    await work;
    hold.release();
    await expect(other).resolves.toMatchObject({ isReleased: false });
  });
});

describe("whatever happens in whatever order", () => {
  /** Sees who asks for a lock, who gives up and why, who gets it, and how many have it at once. */
  class Observer {
    readonly lock = new Lock("the test");
    readonly asked: number[] = [];
    readonly served: number[] = [];
    readonly gaveUp = new Map<number, unknown>();
    mostHolders = 0;
    #holders = 0;

    async useLock(worker: number, options: AcquireOptions, work: () => Promise<unknown>): Promise<void> {
      this.asked.push(worker);
      let hold: Hold;
      try {
        hold = await this.lock.acquire(options);
      } catch (reason) {
        this.gaveUp.set(worker, reason);
        return;
      }
      this.served.push(worker);
      this.#holders += 1;
      this.mostHolders = Math.max(this.mostHolders, this.#holders);
      await work();
      this.#holders -= 1;
      hold.release();
    }

    /** Once all is over. */
    expectToHaveBeenFair(): void {
      // oxlint-disable-next-line vitest/no-standalone-expect -- called by the tests
      expect(this).toMatchObject({
        lock: { isHeld: false },
        mostHolders: Math.min(1, this.served.length),
        served: this.asked.filter((worker) => !this.gaveUp.has(worker)),
      });
    }
  }

  test("there is one holder at a time, and all who have not given up are served in order", async () => {
    const workers = fc.array(fc.record({ abort: fc.boolean() }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), workers, async (scheduler, workers) => {
        const observer = new Observer();
        const all = workers.map(async ({ abort }, worker) => {
          const controller = new AbortController();
          await scheduler.schedule(Promise.resolve(), `ask ${worker}`);
          if (abort)
            void scheduler
              .schedule(Promise.resolve(), `abort ${worker}`)
              .then(() => controller.abort(worker));
          const work = () => scheduler.schedule(Promise.resolve(), `work ${worker}`);
          await observer.useLock(worker, { signal: controller.signal }, work);
        });
        await scheduler.waitFor(Promise.all(all));
        observer.expectToHaveBeenFair();
        for (const [worker, reason] of observer.gaveUp) expect(reason).toBe(worker);
      }),
    );
  });

  test("the same holds with real timers and timeouts", async () => {
    const delay = fc.constantFrom(0, 0, 1, 2, 3);
    const worker = fc.record({
      startMs: delay,
      workMs: delay,
      abortMs: fc.option(delay),
      timeoutMs: fc.constantFrom(1, 2, 5, Number.POSITIVE_INFINITY),
    });
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    await fc.assert(
      fc.asyncProperty(fc.array(worker, { maxLength: 8 }), async (workers) => {
        const observer = new Observer();
        await Promise.all(
          workers.map(async ({ startMs, workMs, abortMs, timeoutMs }, worker) => {
            await pause(startMs);
            const controller = new AbortController();
            if (abortMs !== null) void pause(abortMs).then(() => controller.abort(worker));
            await observer.useLock(worker, { signal: controller.signal, timeoutMs }, () => pause(workMs));
            expect(getEventListeners(controller.signal, "abort")).toEqual([]);
          }),
        );
        observer.expectToHaveBeenFair();
        for (const [worker, reason] of observer.gaveUp)
          expect(reason === worker || reason instanceof LockTimeoutError).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
