import { describe, expect, test } from "vitest";
import { InvalidArgumentError, InvalidTypeError } from "./argument-errors.ts";
import {
  checkBoolean,
  checkDuration,
  checkGrace,
  checkLimit,
  checkName,
  checkOptions,
  checkPlainObject,
  checkSignal,
  checkString,
  isPlainObject,
} from "./check.ts";

type Check = (field: string, value: unknown) => unknown;

const signal = new AbortController().signal;
const bare: object = Object.create(null);

describe.each<[Check, { good: unknown[]; wrongType: unknown[]; wrongValue: unknown[] }]>([
  [
    checkName,
    {
      good: ["a", "get_weather", "Get-Weather2", "x".repeat(64)],
      wrongType: [undefined, null, 1, {}],
      wrongValue: ["", "a b", "a.b", "ä", "x".repeat(65), "a\n"],
    },
  ],
  [checkString, { good: ["", "text"], wrongType: [undefined, null, 1, ["a"]], wrongValue: [] }],
  [checkBoolean, { good: [true, false], wrongType: [undefined, null, 0, "true"], wrongValue: [] }],
  [
    checkDuration,
    {
      good: [0.5, 1, 60_000, Number.POSITIVE_INFINITY],
      wrongType: [undefined, null, "60", 1n],
      wrongValue: [0, -1, Number.NaN, Number.NEGATIVE_INFINITY],
    },
  ],
  [
    checkGrace,
    {
      good: [0, 1, Number.POSITIVE_INFINITY],
      wrongType: [undefined, null, "60"],
      wrongValue: [-1, Number.NaN],
    },
  ],
  [
    checkLimit,
    {
      good: [1, 1_000],
      wrongType: [undefined, null, "1"],
      wrongValue: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY],
    },
  ],
  [checkSignal, { good: [undefined, signal], wrongType: [null, {}, new AbortController()], wrongValue: [] }],
  [
    checkPlainObject,
    { good: [{}, bare], wrongType: [undefined, null, [], new Date(0), "text"], wrongValue: [] },
  ],
])("%o", (check, { good, wrongType, wrongValue }) => {
  test("returns a valid value", () => {
    for (const value of good) expect(check("field", value)).toBe(value);
  });

  test("rejects a wrong type with a TypeError that names the field and the received value", () => {
    for (const value of wrongType) {
      const error = thrownBy(() => check("options.field", value));
      expect(error).toBeInstanceOf(InvalidTypeError);
      expect(error).toMatchObject({ field: "options.field", received: value });
      expect((error as Error).message).toMatch(/^options\.field: expected .+, got .+\.$/);
    }
  });

  test("refuses a wrong value of the right type with an InvalidArgumentError", () => {
    for (const value of wrongValue) {
      const error = thrownBy(() => check("options.field", value));
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(error).not.toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ field: "options.field", received: value });
    }
  });
});

describe("checkOptions", () => {
  test("takes any of the known options", () => {
    expect(() => checkOptions("options", { lock: true }, ["lock", "tags"])).not.toThrow();
  });

  test("refuses a misspelt option and lists the known ones", () => {
    const error = thrownBy(() => checkOptions("options", { lokc: true }, ["lock", "tags"]));
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect((error as Error).message).toBe(
      `options.lokc: expected one of the options lock, tags, got "lokc".`,
    );
  });

  test("rejects anything but a plain object", () => {
    expect(() => checkOptions("options", 5, [])).toThrow(InvalidTypeError);
  });
});

test("a class instance, an array and null are not plain objects", () => {
  expect([{}, bare, [], null, new Map(), () => {}].map(isPlainObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return expect.unreachable("nothing was thrown");
}
