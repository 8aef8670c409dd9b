import { expect, test } from "vitest";
import { AnySignal } from "./any-signal.ts";

test("is aborted with the reason of the first that is", () => {
  const [a, b] = [new AbortController(), new AbortController()];
  using any = new AnySignal([a.signal, b.signal]);
  expect(any.signal.aborted).toBe(false);
  const reason = new Error("b");
  b.abort(reason);
  a.abort(new Error("a"));
  expect(any.signal.reason).toBe(reason);
});

test("of one that was aborted before, is aborted at once", () => {
  const reason = new Error("before");
  using any = new AnySignal([new AbortController().signal, AbortSignal.abort(reason)]);
  expect(any.signal.reason).toBe(reason);
});

test("of a single signal, is that", () => {
  const { signal } = new AbortController();
  using any = new AnySignal([signal]);
  expect(any.signal).toBe(signal);
});

test("follows none of them after its end", () => {
  const controller = new AbortController();
  const any = new AnySignal([controller.signal, new AbortController().signal]);
  any[Symbol.dispose]();
  controller.abort();
  expect(any.signal.aborted).toBe(false);
});
