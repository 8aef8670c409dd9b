import { expect, test } from "vitest";
import { markOf, newId, newInputId, newItemId, readItemId, roundMark } from "./ids.ts";

test("ids are new each time, and are read for what they are", () => {
  const responseId = newId("resp");
  expect(responseId).toMatch(/^resp_[0-9a-f]{32}$/);
  const mark = roundMark(responseId, 1);
  const inputs = Array.from({ length: 5_000 }, () => newInputId("msg", mark));
  const outputs = Array.from({ length: 5_000 }, () => newItemId("msg", { responseId, serverCalls: 2, mark }));
  expect(new Set([...inputs, ...outputs]).size).toBe(10_000);
  for (const id of inputs) {
    expect(id).toMatch(/^msg_[0-9a-f]{32}_[0-9a-f]{8}$/);
    expect(markOf(id)).toBe(mark);
    expect(readItemId(id)).toBeUndefined();
  }
  for (const id of outputs) {
    expect(markOf(id)).toBe(mark);
    expect(readItemId(id)).toEqual({ responseId, hasServerCalls: true });
  }
  expect(markOf(newInputId("in", undefined))).toBeUndefined();
});

test("ids of items that come together are neighbours, and later ones come after them", async () => {
  const before = newInputId("msg", undefined);
  await expect.poll(() => newInputId("msg", undefined).slice(0, 16) > before.slice(0, 16)).toBe(true);
  const timeOf = (id: string) => Number.parseInt(id.slice("msg_".length, "msg_".length + 12), 16);
  expect(Math.abs(timeOf(before) - Date.now())).toBeLessThan(60_000);
});
