import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidJsonError, UnserializableError } from "../error/json-errors.ts";
import { RondoError } from "../error/rondo-error.ts";
import { decode, defineJsonType, encode } from "./codec.ts";

/** There and back, through real text. */
function roundTrip(value: unknown): unknown {
  return decode(JSON.parse(JSON.stringify(encode(value, "value"))), undefined, "value");
}

describe("what is saved comes back as it was", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["undefined", undefined],
    ["a text with half a surrogate pair", "a\ud800b"],
    ["zero", 0],
    ["minus zero", -0],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["minus Infinity", Number.NEGATIVE_INFINITY],
    ["a bigint", -123456789012345678901234567890n],
    ["a date", new Date("2026-01-02T03:04:05.678Z")],
    ["a date before year 0", new Date(-1e15)],
    ["an empty object", {}],
    ["an empty list", []],
    ["undefined in a list", [1, undefined, 3]],
    ["undefined in an object", { a: undefined, b: { c: undefined } }],
    ["bytes", Uint8Array.of(0, 127, 128, 255)],
    ["no bytes", new Uint8Array()],
    [
      "a map with any keys",
      new Map<unknown, unknown>([
        [{ a: 1 }, new Date(0)],
        [undefined, null],
        ["x", -0],
      ]),
    ],
    ["a set", new Set<unknown>([1, "1", undefined, [new Set([1n])]])],
    ["an object that looks like a mark", { $rondo: "date", value: "2026-01-02" }],
    ["a mark within a mark", { $rondo: { $rondo: "undefined" }, other: [{ $rondo: null }] }],
    ["an object with a toJSON of its own", { toJSON: "not a function" }],
  ])("%s", (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
  });

  test("a key named __proto__, without touching the prototype", () => {
    const value = JSON.parse(`{ "__proto__": { "isAdmin": true }, "a": 1 }`);
    const restored = roundTrip(value) as Record<string, unknown>;
    expect(Object.keys(restored)).toEqual(["__proto__", "a"]);
    expect(Object.getPrototypeOf(restored)).toBe(Object.prototype);
    expect(restored["isAdmin"]).toBeUndefined();
  });

  test("a value that occurs twice", () => {
    const shared = { n: 1 };
    expect(roundTrip([shared, { shared }])).toStrictEqual([{ n: 1 }, { shared: { n: 1 } }]);
  });

  test("any mix of all of these", () => {
    const { value } = fc.letrec((tie) => ({
      leaf: fc.oneof(
        fc.constantFrom(null, undefined, true, false, -0, Number.NaN),
        fc.double(),
        fc.integer(),
        fc.bigInt(),
        fc.string({ unit: "binary" }),
        fc.date({ noInvalidDate: true }),
        fc.uint8Array(),
      ),
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        tie("leaf"),
        fc.array(tie("value")),
        fc.dictionary(
          fc.oneof(fc.string(), fc.constantFrom("$rondo", "value", "__proto__", "constructor")),
          tie("value"),
          { noNullPrototype: true },
        ),
        fc.array(fc.tuple(tie("value"), tie("value"))).map((entries) => new Map(entries)),
        fc.array(tie("value")).map((items) => new Set(items)),
      ),
    }));
    fc.assert(
      fc.property(value, (value) => {
        // Not toStrictEqual: it takes a key named `constructor` for the class.
        expect(isDeepStrictEqual(roundTrip(value), value)).toBe(true);
      }),
    );
  });
});

test("plain data is written as plain JSON", () => {
  const value = { a: [1, "x", null, true, { b: {} }] };
  expect(encode(value, "value")).toEqual(value);
});

describe("what is large", () => {
  test("comes back, bytes of any number too", () => {
    const bytes = new Uint8Array(12_000_000).map((_, index) => index % 251);
    expect(Buffer.compare(roundTrip(bytes) as Uint8Array, bytes)).toBe(0);
    const list = Array.from({ length: 200_000 }, (_, index) => new Map([[index, [index]]]));
    expect(isDeepStrictEqual(roundTrip(list), list)).toBe(true);
  });

  const nest = (levels: number, wrap: (inner: unknown) => unknown) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = wrap(value);
    return value;
  };
  const wraps: [string, number, (inner: unknown) => unknown][] = [
    ["lists", 1000, (inner) => [inner]],
    ["objects", 1000, (inner) => ({ inner })],
    ["marks", 1000, (inner) => ({ $rondo: inner })],
    ["sets", 1000, (inner) => new Set([inner])],
    ["maps", 500, (inner) => new Map([["key", inner]])],
  ];

  test.each(wraps)(
    "comes back up to 1,000 levels of %s; deeper is refused when it is saved",
    (_, levels, wrap) => {
      const value = nest(levels, wrap);
      expect(JSON.stringify(encode(roundTrip(value), "value"))).toBe(JSON.stringify(encode(value, "value")));
      for (const more of [levels + 1, 100_000]) {
        const error = thrownBy(() => encode(nest(more, wrap), "input"));
        expect(error).toBeInstanceOf(UnserializableError);
        expect((error as Error).message).toContain("nested more than 1000 levels deep");
      }
    },
  );

  test("is refused as too deep when it is read", () => {
    const error = thrownBy(() =>
      decode(
        nest(100_000, (inner) => ({ inner })),
        undefined,
        "turn.input",
      ),
    );
    expect(error).toBeInstanceOf(InvalidJsonError);
    expect((error as Error).message).toContain(
      "Cannot read turn.input: expected data of at most 1000 levels",
    );
  });
});

describe("what would not survive is refused", () => {
  class Point {
    x = 1;
  }
  class OwnMap extends Map {}
  class OwnDate extends Date {}
  class OwnList extends Array {}
  test.each<[string, unknown]>([
    ["a function", () => {}],
    ["a symbol", Symbol("s")],
    ["a class instance", new Point()],
    ["a map of a class of its own", new OwnMap()],
    ["a date of a class of its own", new OwnDate()],
    ["a list of a class of its own", new OwnList()],
    ["a Buffer", Buffer.from("a")],
    ["other numbers in a row", new Float64Array(1)],
    ["an invalid date", new Date(Number.NaN)],
    ["a regular expression", /a/],
    ["an error", new Error("no")],
    ["a promise", Promise.resolve()],
    ["an object with a symbol as a key", { [Symbol("s")]: 1 }],
  ])("%s", (_, value) => {
    const error = thrownBy(() => encode({ list: [0, value] }, "input"));
    expect(error).toBeInstanceOf(UnserializableError);
    expect(error).toBeInstanceOf(RondoError);
    expect(error).toMatchObject({ path: "input.list[1]" });
    expect((error as Error).message).toContain("Cannot save input.list[1]: ");
  });

  test("an object that contains itself, through whatever is between", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["again"] = [new Map([["key", new Set([cyclic])]])];
    const error = thrownBy(() => encode(cyclic, "input"));
    expect(error).toMatchObject({ path: "input.again[0][0][1][0]" });
    expect((error as Error).message).toContain("it contains itself");
  });

  test("a function is not called on the way", () => {
    let calls = 0;
    const value = { lazy: () => (calls += 1), toJSON: () => (calls += 1) };
    expect(() => encode(value, "input")).toThrow(UnserializableError);
    expect(calls).toBe(0);
  });
});

describe("what cannot be read is refused", () => {
  test.each<[string, unknown]>([
    ["a number", { $rondo: "number", value: "12" }],
    ["a bigint", { $rondo: "bigint", value: "0x10" }],
    ["a bigint without data", { $rondo: "bigint" }],
    ["a date", { $rondo: "date", value: "yesterday" }],
    ["a date of the wrong type", { $rondo: "date", value: 0 }],
    ["a map that is no list", { $rondo: "map", value: {} }],
    ["a map of other things than pairs", { $rondo: "map", value: [1] }],
    ["a map of triples", { $rondo: "map", value: [[1, 2, 3]] }],
    ["a set", { $rondo: "set", value: "abc" }],
    ["bytes with strange letters", { $rondo: "bytes", value: "a!==" }],
    ["bytes of an impossible length", { $rondo: "bytes", value: "a" }],
    ["an object", { $rondo: "object", value: [] }],
    ["a kind that is not known", { $rondo: "rocket", value: 1 }],
    ["a kind named like a method", { $rondo: "constructor", value: 1 }],
    ["a kind that is no text", { $rondo: { a: 1 }, value: 1 }],
  ])("%s", (_, json) => {
    const error = thrownBy(() => decode({ list: [0, json] }, undefined, "turn.input"));
    expect(error).toBeInstanceOf(InvalidJsonError);
    expect(error).toMatchObject({ path: "turn.input.list[1]" });
  });

  test("the path leads into maps", () => {
    const json = { $rondo: "map", value: [["key", { $rondo: "set", value: 1 }]] };
    expect(thrownBy(() => decode(json, undefined, "input"))).toMatchObject({ path: "input[0][1]" });
  });

  test("garbage never ends in anything but an InvalidJsonError", () => {
    const tags = ["undefined", "object", "number", "bigint", "date", "map", "set", "bytes", "other"];
    const mark = fc.record({ $rondo: fc.constantFrom(...tags), value: fc.jsonValue() });
    fc.assert(
      fc.property(mark, (json) => {
        const error = thrownBy(() => decode(json, undefined, "input"));
        expect(error === undefined || error instanceof InvalidJsonError).toBe(true);
      }),
    );
  });
});

test("a class can be added, and gets the scope and the path when it is read", () => {
  class Celsius {
    readonly degrees: number;
    constructor(degrees: number) {
      this.degrees = degrees;
    }
  }
  const seen: unknown[] = [];
  defineJsonType<Celsius, { unit: string }>({
    tag: "celsius",
    is: (value) => value instanceof Celsius,
    encode: ({ degrees }) => degrees,
    decode: (json, scope, path) => {
      seen.push(scope, path);
      return new Celsius(json as number);
    },
  });
  const json = encode([new Celsius(20)], "output");
  expect(json).toEqual([{ $rondo: "celsius", value: 20 }]);
  expect(decode(json, { unit: "C" }, "output")).toStrictEqual([new Celsius(20)]);
  expect(seen).toEqual([{ unit: "C" }, "output[0]"]);
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
