import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Watch } from "./watch.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const tooSlow = new Error("too slow");

function watchFor(timeoutMs: number, signal?: AbortSignal): Watch {
  return new Watch({ signal, timeoutMs, timeoutError: () => tooSlow });
}

/** Work that takes its time, and does not look at any signal. */
function workFor(durationMs: number): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, durationMs, "done"));
}

const forever = () => new Promise<never>(() => {});

/** The value or the error, awaited from now on, so that an early rejection is not unhandled. */
function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => error);
}

describe("time", () => {
  test("gives the value of the part", async () => {
    using watch = watchFor(1_000);
    expect(await watch.time(async () => "value")).toBe("value");
  });

  test("rethrows the errors of the part, even synchronous ones", async () => {
    using watch = watchFor(1_000);
    const error = new Error("no");
    await expect(watch.time(() => Promise.reject(error))).rejects.toBe(error);
    const throwing = watch.time(() => {
      throw error;
    });
    await expect(throwing).rejects.toBe(error);
    expect(watch.endedBy(error)).toBeUndefined();
  });
});

describe("the time limit", () => {
  test("ends a part that ignores its signal", async () => {
    using watch = watchFor(100);
    const outcome = outcomeOf(watch.time(forever));
    await vi.advanceTimersByTimeAsync(100);
    expect(await outcome).toBe(tooSlow);
    expect(watch.signal.aborted).toBe(true);
    expect(watch.signal.reason).toBe(tooSlow);
    expect(watch.endedBy(tooSlow)).toBe("timeout");
  });

  test("counts all parts together", async () => {
    using watch = watchFor(100);
    const first = watch.time(() => workFor(60));
    await vi.advanceTimersByTimeAsync(60);
    expect(await first).toBe("done");
    const second = outcomeOf(watch.time(() => workFor(60)));
    await vi.advanceTimersByTimeAsync(40);
    expect(await second).toBe(tooSlow);
  });

  test("does not count what is between the parts", async () => {
    using watch = watchFor(100);
    for (let part = 0; part < 3; part += 1) {
      const work = watch.time(() => workFor(30));
      await vi.advanceTimersByTimeAsync(30);
      expect(await work).toBe("done");
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(watch.signal.aborted).toBe(false);
  });

  test("that is used up keeps the next part from being started", async () => {
    using watch = watchFor(100);
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    // Time passes, but the thread is busy and no timer gets its turn.
    await watch.time(async () => clock.mockReturnValue(100));
    const part = vi.fn<typeof forever>(forever);
    await expect(watch.time(part)).rejects.toBe(tooSlow);
    expect(part).not.toHaveBeenCalled();
  });

  test("may be longer than a timer can take", async () => {
    const longestTimerMs = 2 ** 31 - 1;
    using watch = watchFor(longestTimerMs + 100);
    const outcome = outcomeOf(watch.time(forever));
    await vi.advanceTimersByTimeAsync(longestTimerMs + 99);
    expect(watch.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toBe(tooSlow);
  });

  test("of Infinity needs no timer", async () => {
    using watch = watchFor(Number.POSITIVE_INFINITY);
    const gate = Promise.withResolvers<void>();
    const work = watch.time(() => gate.promise);
    expect(vi.getTimerCount()).toBe(0);
    gate.resolve();
    await work;
  });

  test("needs one timer for any number of short parts", async () => {
    using watch = watchFor(1_000);
    const setTimer = vi.spyOn(globalThis, "setTimeout");
    for (let part = 0; part < 100; part += 1) await watch.time(async () => part);
    expect(setTimer).toHaveBeenCalledOnce();
  });
});

describe("wait", () => {
  test("returns the value of the part, and rethrows its errors", async () => {
    using watch = watchFor(1_000);
    expect(await watch.wait(Promise.resolve("value"))).toBe("value");
    const error = new Error("no");
    await expect(watch.wait(Promise.reject(error))).rejects.toBe(error);
  });

  test("does not count, and needs no timer", async () => {
    using watch = watchFor(100);
    const gate = Promise.withResolvers<void>();
    const waiting = watch.wait(gate.promise);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    gate.resolve();
    await waiting;
    expect(watch.signal.aborted).toBe(false);
  });

  test("rejects on abort, even if the part continues", async () => {
    const controller = new AbortController();
    using watch = watchFor(1_000, controller.signal);
    const waiting = watch.wait(forever());
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
    expect(watch.endedBy("enough")).toBe("cancelled");
  });

  test("does not wait after an abort", async () => {
    using watch = watchFor(1_000, AbortSignal.abort("before"));
    await expect(watch.wait(forever())).rejects.toBe("before");
  });
});

describe("an abort from outside", () => {
  test("ends a part that ignores its signal, with the same reason", async () => {
    const controller = new AbortController();
    using watch = watchFor(1_000, controller.signal);
    const work = watch.time(forever);
    controller.abort("enough");
    await expect(work).rejects.toBe("enough");
    expect(watch.signal.reason).toBe("enough");
    expect(watch.endedBy("enough")).toBe("cancelled");
  });

  test("wins against a part that answers it by returning", async () => {
    const controller = new AbortController();
    using watch = watchFor(1_000, controller.signal);
    const work = watch.time(
      () =>
        new Promise<string>((resolve) => {
          watch.signal.addEventListener("abort", () => resolve("returned"));
        }),
    );
    controller.abort("enough");
    await expect(work).rejects.toBe("enough");
  });

  test("wins against a part that aborts and returns in one go", async () => {
    const controller = new AbortController();
    using watch = watchFor(1_000, controller.signal);
    const work = watch.time(async () => {
      controller.abort("enough");
      return "returned";
    });
    await expect(work).rejects.toBe("enough");
  });

  test("that came before keeps the part from being started", async () => {
    using watch = watchFor(1_000, AbortSignal.abort("before"));
    const part = vi.fn<typeof forever>(forever);
    await expect(watch.time(part)).rejects.toBe("before");
    expect(part).not.toHaveBeenCalled();
  });

  test("that came between two parts keeps the second from being started", async () => {
    const controller = new AbortController();
    using watch = watchFor(1_000, controller.signal);
    await watch.time(async () => {});
    controller.abort("enough");
    const part = vi.fn<typeof forever>(forever);
    await expect(watch.time(part)).rejects.toBe("enough");
    expect(part).not.toHaveBeenCalled();
  });

  test("after the timeout does not change what ended the run", async () => {
    const controller = new AbortController();
    using watch = watchFor(100, controller.signal);
    const outcome = outcomeOf(watch.time(forever));
    await vi.advanceTimersByTimeAsync(100);
    expect(await outcome).toBe(tooSlow);
    controller.abort("enough");
    expect(watch.signal.reason).toBe(tooSlow);
    expect(watch.endedBy(tooSlow)).toBe("timeout");
    expect(watch.endedBy("enough")).toBeUndefined();
  });
});

test("an error of the part's own is not the watch's doing, even when it is aborted too", async () => {
  const controller = new AbortController();
  using watch = watchFor(1_000, controller.signal);
  controller.abort("enough");
  expect(watch.endedBy(new Error("its own"))).toBeUndefined();
});

test("disposing releases the listener and the timer", async () => {
  const controller = new AbortController();
  {
    using watch = watchFor(1_000, controller.signal);
    await watch.time(async () => {});
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(1);
  }
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
