import { describe, expect, test } from "vitest";
import { InvalidTypeError } from "../errors.ts";
import { SafeExecutionError } from "../index.ts";
import { shareTag, toTags } from "./tags.ts";

describe("tags", () => {
  test.each([
    [["a", "b", "a"]],
    [new Set(["a", "b"])],
    [
      new Map([
        ["a", 1],
        ["b", 2],
      ]).keys(),
    ],
  ])("are made of any list or set of strings", (given) => {
    expect([...toTags("tags", given)]).toEqual(["a", "b"]);
  });

  test("are an empty set when none are given", () => {
    expect(toTags("tags", undefined).size).toBe(0);
    expect(toTags("tags", []).size).toBe(0);
  });

  test("cannot be changed in place", () => {
    const tags = toTags("tags", ["a"]) as Set<string>;
    expect(() => tags.add("b")).toThrow("Tags cannot be changed in place");
    expect(() => tags.delete("a")).toThrow(SafeExecutionError);
    expect(() => tags.clear()).toThrow(SafeExecutionError);
    expect([...tags]).toEqual(["a"]);
  });

  test("are not tied to the list that they were made of", () => {
    const list = ["a"];
    const tags = toTags("tags", list);
    list.push("b");
    expect([...tags]).toEqual(["a"]);
  });

  test.each(["text", null, 7, {}])("refuse %s instead of a list, and name the field", (value) => {
    expect(() => toTags("tags", value as never)).toThrow(InvalidTypeError);
    expect(() => toTags("tags", value as never)).toThrow("tags: expected a list or set of strings");
  });

  test("reject a word that is not a string, and name it", () => {
    expect(() => toTags("tags", ["a", 7 as never])).toThrow("tags[1]: expected a string, got 7");
  });

  test("are shared if at least one word is in both", () => {
    expect(shareTag(new Set(["a", "b"]), new Set(["b", "c"]))).toBe(true);
    expect(shareTag(new Set(["a"]), new Set(["b"]))).toBe(false);
    expect(shareTag(new Set(["a"]), new Set())).toBe(false);
  });
});
