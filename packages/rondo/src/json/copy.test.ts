import { describe, expect, test } from "vitest";
import { copyData, freezeData, setOwn } from "./copy.ts";

describe("copyData", () => {
  test("copies objects and lists to any depth", () => {
    const original = { a: [{ b: 1 }] };
    const copy = copyData(original);
    expect(copy).toEqual(original);
    copy.a[0] = { b: 2 };
    copy.a.push({ b: 3 });
    expect(original).toEqual({ a: [{ b: 1 }] });
  });

  test("copies and freezes data that is deeper than the stack", () => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown[];
    const copy = freezeData(copyData(deep));
    let levels = 0;
    for (let at: unknown = copy; Array.isArray(at); at = at[0]) levels += Number(Object.isFrozen(at));
    expect(levels).toBe(100_000);
  });

  test("keeps functions and class instances as they are", () => {
    const original = { fn: () => {}, date: new Date(0), map: new Map() };
    const copy = copyData(original);
    expect(copy.fn).toBe(original.fn);
    expect(copy.date).toBe(original.date);
    expect(copy.map).toBe(original.map);
  });

  test("keeps the shape of data that contains itself", () => {
    const original: { self?: unknown; list: unknown[] } = { list: [] };
    original.self = original;
    original.list.push(original.list);
    const copy = copyData(original);
    expect(copy).not.toBe(original);
    expect(copy.self).toBe(copy);
    expect(copy.list[0]).toBe(copy.list);
  });

  test("takes a key named __proto__ for a key", () => {
    const copy = copyData(JSON.parse(`{ "__proto__": { "isAdmin": true } }`));
    expect(Object.keys(copy)).toEqual(["__proto__"]);
    expect(copy.isAdmin).toBeUndefined();
  });
});

describe("freezeData", () => {
  test("freezes objects and lists to any depth", () => {
    const data = freezeData({ a: [{ b: 1 }] });
    expect(Object.isFrozen(data)).toBe(true);
    expect(Object.isFrozen(data.a)).toBe(true);
    expect(Object.isFrozen(data.a[0])).toBe(true);
  });

  test("keeps class instances", () => {
    const data = freezeData({ map: new Map<string, number>(), error: new Error("no") });
    expect(Object.isFrozen(data.map)).toBe(false);
    expect(Object.isFrozen(data.error)).toBe(false);
  });

  test("terminates on cyclic data", () => {
    const data: { self?: unknown } = {};
    data.self = data;
    expect(Object.isFrozen(freezeData(data))).toBe(true);
  });
});

test("setOwn sets an ordinary property under any name", () => {
  const object: Record<string, unknown> = {};
  setOwn(object, "a", 1);
  setOwn(object, "__proto__", 2);
  expect(Object.entries(object)).toEqual([
    ["a", 1],
    ["__proto__", 2],
  ]);
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
});
