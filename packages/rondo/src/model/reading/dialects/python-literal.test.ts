import fc from "fast-check";
import { expect, test } from "vitest";
import { pythonToJson } from "./python-literal.ts";

test.each([
  ["1", 1],
  ["-1.5e3", -1500],
  ["True", true],
  ["[False, None,]", [false, null]],
  ["(1, 2 , )", [1, 2]],
  ["(1)", 1],
  ["((1), (2,), ())", [1, [2], []]],
  ["([1, 2])", [1, 2]],
  ["(({'a': (1)}))", { a: 1 }],
  ["{'a': 'b', 'c': (),}", { a: "b", c: [] }],
  ["'it\\'s \"x\"'", 'it\'s "x"'],
  ["'a\\tb\\x41\\u00e9\\U0001F642\\\\n'", "a\tbAé🙂\\n"],
  ["'\\d+\\.\\''", "\\d+\\.'"],
  ["r'\\d+\\b'", "\\d+\\b"],
  ["'two\nlines, True)'", "two\nlines, True)"],
  ['"\\xzz"', "\\xzz"],
  ["''", ""],
])("%j", (text, value) => {
  expect(JSON.parse(pythonToJson(text))).toEqual(value);
});

test("JSON keeps its meaning", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(JSON.parse(pythonToJson(json))).toEqual(JSON.parse(json));
    }),
  );
});

test("any value as Python prints it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(pythonToJson(printed(value)))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

function printed(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return `'${value.replaceAll(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`;
  if (Array.isArray(value)) return `[${value.map(printed).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, member]) => `${printed(key)}: ${printed(member)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}

test.each(["'\\d+\\b'", '"\\w\\n"', "f'x'", "x", "[1 2]", "'a' 'b'", "1 +", "{a: 1}"])(
  "%j is not JSON after that either",
  (text) => {
    expect(() => JSON.parse(pythonToJson(text)) as unknown).toThrow(SyntaxError);
  },
);
