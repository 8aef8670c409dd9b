import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { functionKind } from "./async-function.ts";

class Methods {
  async single(this: void) {}
  async *stream(this: void) {}
}

test.each<[unknown, ReturnType<typeof functionKind>]>([
  [async () => {}, "async"],
  [async function named() {}, "async"],
  [new Methods().single, "async"],
  [new Methods().single.bind(undefined), "async"],
  [async function* () {}, "async generator"],
  [new Methods().stream, "async generator"],
  [function* () {}, "generator"],
  [() => {}, "plain"],
  [() => Promise.resolve(), "plain"],
  [Methods, "plain"],
  [Math.max, "plain"],
  [runInNewContext("(async () => {})"), "async"],
  [runInNewContext("(async function* () {})"), "async generator"],
  [runInNewContext("(function* () {})"), "generator"],
  [undefined, undefined],
  [{}, undefined],
  ["async () => {}", undefined],
])("%o is %s", (value, kind) => {
  expect(functionKind(value)).toBe(kind);
});

test("the function is not called to find out", () => {
  let calls = 0;
  functionKind(() => {
    calls += 1;
  });
  expect(calls).toBe(0);
});
