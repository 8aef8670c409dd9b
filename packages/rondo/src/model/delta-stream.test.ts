import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { type DeltaSink, DeltaStream } from "./delta-stream.ts";
import type { ModelDelta } from "./provider.ts";

const text = (text: string): ModelDelta => ({ type: "text.delta", text });

/** A stream whose work goes on until it is aborted, or until the test says so. */
function open(signal?: AbortSignal): {
  stream: DeltaStream;
  sink: DeltaSink;
  finish: () => void;
  fail: (error: Error) => void;
} {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sink: DeltaSink | undefined;
  const stream = new DeltaStream((given) => {
    sink = given;
    given.signal.addEventListener("abort", () => reject(given.signal.reason));
    return promise;
  }, signal);
  void stream.next(); // begins the work; takes the first delta
  if (!sink) throw new Error("The work has not begun.");
  sink.push(text("first"));
  return { stream, sink, finish: resolve, fail: reject };
}

test("the work starts with the first next()", async () => {
  const work = vi.fn<() => Promise<void>>(async () => {});
  const stream = new DeltaStream(work);
  expect(work).not.toHaveBeenCalled();
  await stream.return();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  expect(work).not.toHaveBeenCalled();
});

test("values are delivered in order, whether requested before or after they are pushed", async () => {
  const { stream, sink, finish } = open();
  const early = [stream.next(), stream.next()];
  for (const letter of ["a", "b", "c", "d"]) sink.push(text(letter));
  finish();
  const steps = [...(await Promise.all(early)), await stream.next(), await stream.next()];
  expect(steps.map(({ value }) => value && "text" in value && value.text)).toEqual([
    "a",
    "b",
    "cd",
    undefined,
  ]);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("unread text is merged, and nothing else is", async () => {
  const { stream, sink, finish } = open();
  const thought = (text: string): ModelDelta => ({ type: "thinking.delta", text });
  const warning: ModelDelta = { type: "warning", message: "odd" };
  for (const delta of [thought("h"), thought("m"), text("a"), text("b"), warning, warning, text("c")])
    sink.push(delta);
  finish();
  const deltas: ModelDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  expect(deltas).toEqual([thought("hm"), text("ab"), warning, warning, text("c")]);
});

test("an error is thrown once, after the deltas that were pushed before it", async () => {
  const { stream, sink, fail } = open();
  sink.push(text("a"));
  fail(new Error("broken"));
  expect(await stream.next()).toEqual({ done: false, value: text("a") });
  await expect(stream.next()).rejects.toThrow("broken");
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("a time limit ends the work, after the deltas that were pushed before it", async () => {
  const { stream, sink } = open();
  sink.push(text("a"));
  sink.stop(new Error("too slow"));
  expect(await stream.next()).toEqual({ done: false, value: text("a") });
  await expect(stream.next()).rejects.toThrow("too slow");
});

test("an abort rejects a pending next(), stops the work and drops unread deltas", async () => {
  const controller = new AbortController();
  const { stream, sink } = open(controller.signal);
  const waiting = stream.next();
  controller.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  expect(sink.signal.reason).toBe("enough");
  sink.push(text("late"));
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("an abort between two values drops unread deltas", async () => {
  const controller = new AbortController();
  const { stream, sink } = open(controller.signal);
  sink.push(text("a"));
  controller.abort("enough");
  await expect(stream.next()).rejects.toBe("enough");
});

test("aborted before it begins, does not begin", async () => {
  const work = vi.fn<() => Promise<void>>(async () => {});
  const stream = new DeltaStream(work, AbortSignal.abort("no"));
  await expect(stream.next()).rejects.toBe("no");
  expect(work).not.toHaveBeenCalled();
});

describe("leaving", () => {
  test("aborts the work in the same tick, and does not wait behind a pending next()", async () => {
    const { stream, sink } = open();
    const pending = stream.next();
    const left = stream.return();
    expect(sink.signal.aborted).toBe(true);
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await left).toEqual({ done: true, value: undefined });
  });

  test("waits until the work has released all", async () => {
    const released = vi.fn<() => void>();
    const stream = new DeltaStream(async ({ signal, push }) => {
      push(text("a"));
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
      released();
    });
    for await (const _ of stream) break;
    expect(released).toHaveBeenCalledOnce();
  });

  test("by await using", async () => {
    const { stream, sink } = open();
    {
      await using _ = stream;
    }
    expect(sink.signal.aborted).toBe(true);
  });

  test("drops the error of a stream that had failed", async () => {
    const { stream, fail } = open();
    fail(new Error("broken"));
    await stream.return();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});

test("no listener is left on the signal, however the stream ends", async () => {
  const controller = new AbortController();
  const listeners = () => getEventListeners(controller.signal, "abort").length;
  const finished = open(controller.signal);
  expect(listeners()).toBe(1);
  finished.finish();
  await finished.stream.next();
  expect(listeners()).toBe(0);
  const failed = open(controller.signal);
  failed.fail(new Error("broken"));
  await expect(failed.stream.next()).rejects.toThrow("broken");
  expect(listeners()).toBe(0);
  await open(controller.signal).stream.return();
  expect(listeners()).toBe(0);
});

test("reports when the consumer is far behind, and when it has caught up", async () => {
  const { stream, sink } = open();
  sink.onDrained = vi.fn<() => void>();
  for (let count = 0; count < 511; count += 1) sink.push(text("x"));
  expect(sink.isFull()).toBe(false);
  sink.push(text("x"));
  expect(sink.isFull()).toBe(true);
  sink.push({ type: "thinking.delta", text: "y" });
  expect(await stream.next()).toEqual({ done: false, value: text("x".repeat(512)) });
  expect(sink.onDrained).not.toHaveBeenCalled();
  await stream.next();
  expect(sink.onDrained).toHaveBeenCalledOnce();
  expect(sink.isFull()).toBe(false);
  await stream.return();
});
