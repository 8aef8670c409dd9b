import fc from "fast-check";
import type { AnyTool } from "rondo";
import { expect, test } from "vitest";
import { definedTool } from "../defined-tool.ts";
import type { CallItems } from "../executor.ts";
import { functionItems } from "./function-items.ts";
import { KnownFunctions } from "./known-functions.ts";

const definitionOf = (name: string) => ({ type: "function", name, parameters: { type: "object" } });

function counting(chars: number, functions = 100) {
  const known = new KnownFunctions<{ tool: AnyTool; items: CallItems }>({ chars, functions });
  const made: string[] = [];
  const get = (name: string, more: object = {}) => {
    const definition = { ...definitionOf(name), ...more };
    return known.get(definition, () => {
      made.push(name);
      const tool = definedTool(definition, 0, {}, async () => "");
      return { tool, items: functionItems({ type: "function", name }) };
    });
  };
  return { get, made };
}

test("a definition that came before is not compiled again", () => {
  const { get, made } = counting(10_000);
  expect(get("look")).toBe(get("look"));
  expect(made).toEqual(["look"]);
});

test("a definition that differs anywhere is another function", () => {
  const { get } = counting(10_000);
  expect(get("look", { description: "a" }).tool.description).toBe("a");
  expect(get("look", { description: "b" }).tool.description).toBe("b");
});

test("a definition in another order is another function: models read it as it is written", () => {
  const { get } = counting(10_000);
  const one = get("look", { parameters: { type: "object", title: "t" } });
  const other = get("look", { parameters: { title: "t", type: "object" } });
  expect(one).not.toBe(other);
  expect(get("look", { parameters: { type: "object", title: "t" } })).toBe(one);
});

test("two definitions are the same function if their JSON is the same", () => {
  const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
  // Often the same, else something was added, left out or put elsewhere.
  const pair = fc.tuple(json, json, fc.boolean()).map(([one, other, isSame]) => [one, isSame ? one : other]);
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const known = new KnownFunctions<object>({ chars: 1_000_000, functions: 10 });
      // As requests come: read anew.
      const read = (parameters: unknown) =>
        JSON.parse(JSON.stringify({ type: "function", name: "f", parameters }));
      const get = (parameters: unknown) => known.get(read(parameters), () => ({}));
      const isSame = JSON.stringify(read(one)) === JSON.stringify(read(other));
      expect(get(one) === get(other)).toBe(isSame);
    }),
    { numRuns: 500 },
  );
});

test("a list is no object with the same fields", () => {
  const { get } = counting(10_000);
  const list = get("look", { parameters: { type: "object", default: ["a"] } });
  expect(get("look", { parameters: { type: "object", default: { 0: "a" } } })).not.toBe(list);
});

test("the oldest are forgotten when they take too much together", () => {
  const size = JSON.stringify(definitionOf("f0")).length;
  const { get, made } = counting(2 * size);
  for (const name of ["f0", "f1", "f2"]) get(name);
  get("f2");
  get("f0");
  expect(made).toEqual(["f0", "f1", "f2", "f0"]);
});

test("one that is too large for all is used, and forgotten", () => {
  const { get, made } = counting(10);
  expect(get("large").tool.name).toBe("large");
  get("large");
  expect(made).toEqual(["large", "large"]);
});

test("a definition that cannot be a tool is not kept", () => {
  const known = new KnownFunctions({ chars: 1000, functions: 10 });
  const fail = () =>
    known.get(definitionOf("bad"), () => {
      throw new Error("no");
    });
  expect(fail).toThrow("no");
  expect(fail).toThrow("no");
});

test("so many are kept at most, however small they are", () => {
  const { get, made } = counting(1_000_000, 2);
  for (const name of ["f0", "f1", "f2", "f1", "f0"]) get(name);
  expect(made).toEqual(["f0", "f1", "f2", "f0"]);
});
