import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repairJson } from "./repair-json.ts";

const repaired = (text: string): unknown => JSON.parse(repairJson(text));

describe("text that is repaired", () => {
  test.each<[string, string, unknown]>([
    ["single quotes", "{'a': 'x', 'b': ['y']}", { a: "x", b: ["y"] }],
    ["quotes of the other kind inside", `{'a': 'say "hi"', "b": "it's"}`, { a: 'say "hi"', b: "it's" }],
    ["typographic quotes", '{“a”: “say "hi" ’”, ‘b’: ‘x’}', { a: 'say "hi" ’', b: "x" }],
    ["keys without quotes", "{a: 1, b_2: 2, größe: 3}", { a: 1, b_2: 2, größe: 3 }],
    ["trailing commas", '{"a": [1, 2,], "b": {"c": 1,},}', { a: [1, 2], b: { c: 1 } }],
    ["a missing comma between members", '{"a": 1 "b": "x"\n"c": {}"d": 2}', { a: 1, b: "x", c: {}, d: 2 }],
    ["a missing comma between objects of a list", "[{'a': 1} {'a': 2}]", [{ a: 1 }, { a: 2 }]],
    ["words of Python", "[True, False, None]", [true, false, null]],
    ["line breaks and tabs in a string", '{"a": "x\n\ty\u0001"}', { a: "x\n\ty\u0001" }],
    ["escapes that JSON knows", String.raw`{'a': '\n\\\u00e9\"\/'}`, { a: '\n\\é"/' }],
    ["an escaped delimiter", String.raw`{'a': 'it\'s', 'b': ‘it\’s’}`, { a: "it's", b: "it’s" }],
    ["numbers", "[0, -1, 1.5, 2e3, 1E-2,]", [0, -1, 1.5, 2000, 0.01]],
    ["a value alone", "'x'", "x"],
  ])("%s", (_, text, value) => {
    expect(repaired(text)).toEqual(value);
  });

  test.each([
    [String.raw`{"cmd": "grep \d+\.\w f"}`, String.raw`grep \d+\.\w f`],
    [String.raw`{"cmd": "dir C:\xampp"}`, String.raw`dir C:\xampp`],
    [String.raw`{"cmd": "grep \"\d\" f"}`, String.raw`grep "\d" f`],
    [String.raw`{"cmd": "it\'s"}`, String.raw`it\'s`],
    ['{"cmd": "a \\\n b"}', "a \\\n b"],
  ])("an escape that JSON does not know keeps its backslash: %s", (text, cmd) => {
    expect(repaired(text)).toEqual({ cmd });
  });

  test("a key named __proto__ stays a key", () => {
    const value = repaired("{'__proto__': {'x': 1}}");
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});

describe("text that is rejected", () => {
  test.each([
    ["a value without quotes", "{cmd: rm -rf //tmp/x}"],
    ["a word as a value", "{'a': yes}"],
    ["a comment", '{"a": 1 /* one */}'],
    ["a line comment", '{"a": 1, // one\n"b": 2}'],
    ["a hash comment", '{"a": 1 # one\n}'],
    ["strings that are joined", '{"a": "x" + "y"}'],
    ["a function call", '{"a": ObjectId("x")}'],
    ["a wrapped object", 'callback({"a": 1})'],
    ["an ellipsis", '{"a": 1, ...}'],
    ["an ellipsis in a list", "[1, 2, …]"],
    ["two values", '{"a": 1}\n{"a": 2}'],
    ["undefined", '{"a": undefined}'],
    ["NaN", '{"a": NaN}'],
    ["a number that ends in a point", '{"a": 2.}'],
    ["a number that begins with a point", '{"a": .5}'],
    ["a number with a plus", '{"a": +5}'],
    ["leading zeros", '{"a": 007}'],
    ["a hexadecimal number", '{"a": 0x10}'],
    ["a unit", '{"a": 10px}'],
    ["numbers without a comma", '{"a": [1 500]}'],
    ["strings without a comma in a list", '{"a": ["x" "y"]}'],
    ["strings without anything between them", '{"a": "x""b": "y"}'],
    ["a key without quotes after a missing comma", '{"a": "echo "b: "x"}'],
    ["quotes inside a string", '{"a": "say "hi" now"}'],
    ["quotes around a comma inside a string", '{"a": "use "," here"}'],
    ["an apostrophe inside single quotes", "{'a': 'it's'}"],
    ["a short escape", String.raw`{'a': '\u12'}`],
    ["a path that looks like an escape", String.raw`{'a': 'C:\users'}`],
    ["backslashes of both kinds", String.raw`{"a": "C:\xampp\new"}`],
    ["a doubled backslash beside a single one", String.raw`{"a": "\\host\share"}`],
    ["backticks", "{`a`: `x`}"],
    ["two commas", "{'a': 1,, 'b': 2}"],
    ["a comma first", "{, 'a': 1}"],
    ["no colon", "{'a' 1}"],
    ["a key twice", "{'a': 1, 'a': 2}"],
    ["a missing bracket", "{'a': [1, 2}"],
    ["a missing brace", "{'a': 1"],
    ["a missing quote", "{'a': 'x}"],
    ["nothing", ""],
  ])("%s", (_, text) => {
    expect(() => repairJson(text)).toThrow("text that is not valid JSON");
  });

  test("nesting without end, without using the stack", () => {
    expect(() => repairJson("[".repeat(1_000_000))).toThrow("more than 200 levels of nesting");
  });
});

const text = fc.string({ unit: fc.constantFrom(..."ab \n\t\"'\\/“”’é{}[]:,#".split("")) });
const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie("value"), { maxLength: 4 }), tie("object")),
  object: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie("value"), { maxKeys: 4 }),
}));

/** Writes a value as JSON with damage that must be repaired. `pick` chooses which. */
function damaged(value: unknown, pick: () => number): string {
  if (typeof value === "string") return damagedString(value, pick);
  if (value === null || typeof value === "boolean")
    return pick() % 2
      ? String(value)
      : ({ true: "True", false: "False", null: "None" }[String(value)] as string);
  if (typeof value !== "object") return JSON.stringify(value);
  const tail = pick() % 2 ? "," : "";
  if (Array.isArray(value)) {
    const items = value.map((item) => damaged(item, pick));
    return `[${items.join(", ")}${items.length > 0 ? tail : ""}]`;
  }
  const members = Object.entries(value).map(([key, item]) => {
    const isBare = pick() % 2 === 0;
    return { isBare, json: `${isBare ? key : damagedString(key, pick)}: ${damaged(item, pick)}` };
  });
  const joined = members.map(({ isBare, json }, i) => {
    if (i === 0) return json;
    return isBare || pick() % 2 ? `, ${json}` : `\n${json}`;
  });
  return `{${joined.join("")}${members.length > 0 ? tail : ""}}`;
}

function damagedString(value: string, pick: () => number): string {
  const [open, close] = [
    ['"', '"'],
    ["'", "'"],
    ["“", "”"],
  ][pick() % 3] as [string, string];
  const body = value.replaceAll("\\", "\\\\").replaceAll(close, `\\${close}`);
  return open + (pick() % 2 ? body : body.replaceAll("\n", "\\n").replaceAll("\t", "\\t")) + close;
}

test("a JSON object that is damaged in allowed ways keeps its value", () => {
  fc.assert(
    fc.property(object, fc.array(fc.nat({ max: 11 }), { minLength: 1 }), (value, choices) => {
      let at = 0;
      const pick = () => choices[at++ % choices.length] as number;
      expect(repaired(damaged(value, pick))).toEqual(value);
    }),
    { numRuns: 1000 },
  );
});

/** All keys and values as text, in order. */
function contentOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(contentOf).join("");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([key, item]) => key + contentOf(item))
      .join("");
  if (value === null) return "None";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What is neither structure nor white space, sorted: keys that are numbers change places in an object. */
function lettersOf(content: string): string {
  return content
    .replaceAll(/[{}[\]:,"'“”\s\\]/g, "")
    .split("")
    .toSorted()
    .join("");
}

test("whatever is accepted, its keys and values have all characters of the text and no others, in order", () => {
  const bits = "{|}|[|]|\"|'|“|”|:|,|a|z|1|`|\\|\\d|\\'|\n| |...|None|//|#|+|(|)|'y':|\"x\": ".split("|");
  const middle = fc.array(fc.constantFrom(...bits), { maxLength: 12 }).map((parts) => parts.join(""));
  let accepted = 0;
  fc.assert(
    fc.property(fc.constantFrom("{'k':'", "{'k':", "{"), middle, fc.constantFrom("'}", "}"), (...parts) => {
      const raw = parts.join("");
      let value: unknown;
      try {
        value = repaired(raw);
      } catch {
        return;
      }
      accepted++;
      const content = contentOf(value);
      expect(lettersOf(content)).toBe(lettersOf(raw));
      if (/1/.test(raw)) return;
      let at = 0;
      for (const char of content) {
        at = raw.indexOf(char, at);
        expect(at).toBeGreaterThanOrEqual(0);
        at += char.length;
      }
    }),
    { numRuns: 5000 },
  );
  expect(accepted).toBeGreaterThan(50);
});
