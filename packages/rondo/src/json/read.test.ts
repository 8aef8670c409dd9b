import { describe, expect, test } from "vitest";
import { InvalidJsonError } from "../error/json-errors.ts";
import { formatVersion, SavedObject } from "./read.ts";

describe("the format version", () => {
  test("this one is accepted", () => {
    expect(() => new SavedObject({ version: formatVersion }, "turn")).not.toThrow();
  });

  test("may be missing", () => {
    expect(() => new SavedObject({}, "turn")).not.toThrow();
  });

  test("a newer one is refused with what can be read", () => {
    const newer = () => new SavedObject({ version: formatVersion + 1 }, "agent.queue[0]");
    expect(newer).toThrow(InvalidJsonError);
    expect(newer).toThrow("agent.queue[0].version: expected a format version from 1 to 1, got 2.");
  });

  test.each([0, -1, 1.5, "1", true, {}])("%o is refused", (version) => {
    expect(() => new SavedObject({ version }, "turn")).toThrow(InvalidJsonError);
  });
});

test.each([undefined, null, "{}", 5, [], new Map()])("%o is refused as a saved object", (data) => {
  expect(() => new SavedObject(data, "turn")).toThrow(/^Cannot read turn: expected an object, got /);
});

describe("a field", () => {
  const saved = new SavedObject(
    {
      text: "a",
      count: 2,
      flag: false,
      time: "2026-01-02T03:04:05.678Z",
      list: [1],
      words: ["a", "b"],
      mixed: ["a", 1],
      nothing: null,
    },
    "turn",
  );

  test("is read with its type", () => {
    expect(saved.string("text")).toBe("a");
    expect(saved.optionalString("text")).toBe("a");
    expect(saved.number("count")).toBe(2);
    expect(saved.boolean("flag")).toBe(false);
    expect(saved.date("time")).toEqual(new Date("2026-01-02T03:04:05.678Z"));
    expect(saved.list("list")).toEqual([1]);
    expect(saved.strings("words")).toEqual(["a", "b"]);
  });

  test.each(["nothing", "absent"])("may be missing: %s", (key) => {
    expect(saved.raw(key)).toBeUndefined();
    expect(saved.optionalString(key)).toBeUndefined();
    expect(saved.number(key)).toBeUndefined();
    expect(saved.boolean(key)).toBeUndefined();
    expect(saved.date(key)).toBeUndefined();
    expect(saved.list(key)).toEqual([]);
    expect(saved.strings(key)).toEqual([]);
  });

  test("that is null is there, one that is missing is not", () => {
    expect(saved.has("nothing")).toBe(true);
    expect(saved.has("absent")).toBe(false);
    expect(saved.has("toString")).toBe(false);
  });

  test.each<[() => unknown, string]>([
    [() => saved.string("absent"), "turn.absent: expected a string, got nothing"],
    [() => saved.string("nothing"), "turn.nothing: expected a string, got null"],
    [() => saved.string("count"), "turn.count: expected a string, got 2"],
    [() => saved.optionalString("count"), "turn.count: expected a string, got 2"],
    [() => saved.number("text"), `turn.text: expected a number, got "a"`],
    [() => saved.boolean("count"), "turn.count: expected true or false, got 2"],
    [() => saved.date("text"), `turn.text: expected an ISO date, got "a"`],
    [() => saved.date("count"), "turn.count: expected a string, got 2"],
    [() => saved.list("text"), `turn.text: expected a list, got "a"`],
    [() => saved.strings("mixed"), "turn.mixed[1]: expected a string, got 1"],
  ])("of the wrong type is refused with its path: %s", (read, complaint) => {
    expect(read).toThrow(InvalidJsonError);
    expect(read).toThrow(`Cannot read ${complaint}.`);
  });
});
