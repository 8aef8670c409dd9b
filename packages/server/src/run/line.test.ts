import { expect, test } from "vitest";
import { Line } from "./line.ts";

const never = new AbortController().signal;

test("one after the other is let in, in the order in which they came", async () => {
  const line = new Line();
  const order: string[] = [];
  const visit = async (name: string) => {
    const leave = await line.enter("a", never);
    order.push(`${name} in`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} out`);
    leave();
  };
  await Promise.all([visit("1"), visit("2"), visit("3")]);
  expect(order).toEqual(["1 in", "1 out", "2 in", "2 out", "3 in", "3 out"]);
});

test("other lines do not wait", async () => {
  const line = new Line();
  await line.enter("a", never);
  await expect(line.enter("b", never)).resolves.toBeTypeOf("function");
});

test("who gives up is passed over, and lets nobody in early", async () => {
  const line = new Line();
  const order: string[] = [];
  const leaveFirst = await line.enter("a", never);
  const impatient = new AbortController();
  const second = line.enter("a", impatient.signal);
  const third = line.enter("a", never).then(() => order.push("third"));
  impatient.abort(new Error("Enough."));
  await expect(second).rejects.toThrow("Enough.");
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  leaveFirst();
  await third;
  expect(order).toEqual(["third"]);
});

test("who has given up before does not wait", async () => {
  const line = new Line();
  await expect(line.enter("a", AbortSignal.abort(new Error("Gone.")))).rejects.toThrow("Gone.");
  await expect(line.enter("a", never)).resolves.toBeTypeOf("function");
});
