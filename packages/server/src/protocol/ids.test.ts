import { expect, test } from "vitest";
import {
  inputId,
  isInputIdOf,
  markOf,
  newItemId,
  newResponseId,
  newTimedId,
  readInputId,
  readItemId,
  roundMark,
} from "./ids.ts";

test("ids are new each time, and are read for what they are", () => {
  const responseId = newResponseId();
  expect(responseId).toMatch(/^resp_[0-9a-f]{32}$/);
  const mark = roundMark(responseId, 1);
  const added = Array.from({ length: 5_000 }, () => newTimedId("msg", mark));
  const outputs = Array.from({ length: 5_000 }, () => newItemId("msg", { responseId, serverCalls: 2, mark }));
  expect(new Set([...added, ...outputs]).size).toBe(10_000);
  for (const id of added) {
    expect(id).toMatch(/^msg_[0-9a-f]{32}_[0-9a-f]{8}$/);
    expect(markOf(id)).toBe(mark);
    expect(readItemId(id)).toBeUndefined();
    expect(readInputId(id)).toBeUndefined();
  }
  for (const id of outputs) {
    expect(markOf(id)).toBe(mark);
    expect(readInputId(id)).toBeUndefined();
    expect(readItemId(id)).toEqual({ responseId, hasServerCalls: true });
  }
  expect(markOf(newTimedId("in", undefined))).toBeUndefined();
});

test("the id of an item of a request tells its place", () => {
  const place = { responseId: newResponseId(), position: 70_000 };
  const mark = roundMark(place.responseId, 2);
  for (const given of [undefined, mark]) {
    const id = inputId("fc", place, given);
    expect(readInputId(id)).toEqual(place);
    expect(isInputIdOf(id, place)).toBe(true);
    expect(isInputIdOf(id, { ...place, position: 70_001 })).toBe(false);
    expect(isInputIdOf(id, { ...place, responseId: newResponseId() })).toBe(false);
    expect(isInputIdOf(id, { ...place, responseId: place.responseId.slice(0, -1) })).toBe(false);
    for (const other of [`${id}0`, `F${id}`, id.slice(0, -1), id.replace("fc_", "")])
      expect(isInputIdOf(other, place)).toBe(false);
    expect(readItemId(id)).toBeUndefined();
    expect(markOf(id)).toBe(given);
  }
  // Where there is no room for the place, the id is a new one.
  for (const other of [
    { ...place, position: 2 ** 24 },
    { ...place, responseId: "resp_1" },
  ])
    expect(readInputId(inputId("fc", other, mark))).toBeUndefined();
});

test("the check of an id for a place agrees with reading it", () => {
  const responseId = newResponseId();
  const other = newResponseId();
  // All of them: random ones would rarely be right in every part.
  const ids = everyText([
    ["msg", "fc", "", "Msg", "a".repeat(16), "a".repeat(17), "m_g", "m{"],
    ["_", "", "__"],
    [responseId.slice(5), other.slice(5), `G${responseId.slice(6)}`, ""],
    ["000000", "000007", "00000A", "1000000", "00007", ""],
    ["", "_01234567", "_0123456", "_012345678", "_0123456X", "01234567", "_"],
  ]);
  const responseIds = [
    responseId,
    `resp_G${responseId.slice(6)}`,
    `x${responseId}`,
    responseId.slice(0, -1),
    "",
  ];
  const places = responseIds.flatMap((id) =>
    [0, 7, 10, 2 ** 24].map((position) => ({ responseId: id, position })),
  );
  const wrong: unknown[] = [];
  const right: string[] = [];
  for (const id of ids) {
    const read = readInputId(id);
    for (const place of places) {
      const isThere = read?.responseId === place.responseId && read.position === place.position;
      if (isInputIdOf(id, place) !== isThere) wrong.push({ id, ...place });
      else if (isThere) right.push(id);
    }
  }
  expect(wrong).toEqual([]);
  // Three prefixes, two positions, with and without a mark.
  expect(right).toHaveLength(12);
});

/** Each text that has one of each list, in their order. */
function everyText(lists: readonly (readonly string[])[]): string[] {
  return lists.reduce<string[]>(
    (texts, list) => texts.flatMap((text) => list.map((part) => text + part)),
    [""],
  );
}

test("ids of items that come together are neighbours, and later ones come after them", async () => {
  const before = newTimedId("msg", undefined);
  await expect.poll(() => newTimedId("msg", undefined).slice(0, 16) > before.slice(0, 16)).toBe(true);
  const timeOf = (id: string) => Number.parseInt(id.slice("msg_".length, "msg_".length + 12), 16);
  expect(Math.abs(timeOf(before) - Date.now())).toBeLessThan(60_000);
});

test("ids of responses that are created together share their first digits, up to a number of them", async () => {
  const start = (id: string) => id.slice(0, "resp_".length + 6);
  const ids = Array.from({ length: 3_200 }, newResponseId);
  expect(new Set(ids).size).toBe(ids.length);
  const bursts = Object.values(Object.groupBy(ids, start));
  // A few more than 100 if the machine is so slow that some ended by their time.
  expect(bursts.length).toBeGreaterThan(90);
  expect(bursts.length).toBeLessThan(300);

  const before = newResponseId();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(start(newResponseId())).not.toBe(start(before));
});
