import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculate, evaluate, findSums } from "./sums.ts";

describe("a sum is found", () => {
  test.each([
    ["What is 25 + 17?", ["25 + 17"]],
    ["25+17", ["25 + 17"]],
    ["What is 25 + 17, 3 * 4 and 5 - 2?", ["25 + 17", "3 * 4", "5 - 2"]],
    ["2 + 3 * 4 ^ 2", ["2 + 3 * 4 ^ 2"]],
    ["(1 + 2) × 3", ["(1 + 2) * 3"]],
    ["2 * -3", ["2 * -3"]],
    ["5-3", ["5 - 3"]],
    ["What is 8 divided by 4 plus 1.5", ["8 / 4 + 1.5"]],
    ["17 mod 5", ["17 % 5"]],
    ["Add 1 and 2.", ["1 + 2"]],
    ["subtract 3 from 10", ["10 - 3"]],
    ["multiply (1 + 2) by 3", ["(1 + 2) * 3"]],
  ])("in '%s'", (text, expected) => {
    expect(findSums(text, undefined)).toEqual(expected);
  });

  test.each([
    ["multiply by 10", "42 * 10"],
    ["multiply it by 10", "42 * 10"],
    ["add 5", "42 + 5"],
    ["add 5 to the result", "42 + 5"],
    ["subtract 5 from it", "42 - 5"],
    ["subtract it from 5", "5 - 42"],
  ])("that continues from a result, in '%s'", (text, expected) => {
    expect(findSums(text, 42, true)).toEqual([expected]);
  });

  test.each([
    "Hello",
    "Add 2 eggs to the list",
    "It happened on 2024-05-17 at 10:30",
    "on 17/05/2024",
    "version 1.2.3",
    "127.0.0.1 - home",
    "25km + 32km",
    "25% of 80",
    "1 +",
    "3 4 + 5",
    "-5",
    "((((((",
  ])("but not in '%s'", (text) => {
    expect(findSums(text, undefined)).toEqual([]);
  });

  test("unless it is nested too deeply or has too many operators", () => {
    const nested = (depth: number) => `${"(".repeat(depth)}1 + 1${")".repeat(depth)}`;
    expect(findSums(nested(19), undefined)).toHaveLength(1);
    expect(findSums(nested(21), undefined)).toEqual([]);
    expect(findSums(`1${" + 1".repeat(50)}`, undefined)).toHaveLength(1);
    expect(findSums(`1${" + 1".repeat(51)}`, undefined)).toEqual([]);
  });

  test("in any text without a throw", () => {
    const words = fc.constantFrom(
      "add",
      "1",
      "2",
      "and",
      "(",
      ")",
      "-",
      "by",
      "it",
      "+",
      "^",
      ",",
      "the",
      "plus",
    );
    const texts = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(words, { maxLength: 60 }).map((all) => all.join(" ")),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, isNext) => {
        for (const sum of findSums(text, 1, isNext)) expect(evaluate(sum, calculate)).toBeTypeOf("number");
      }),
    );
  });
});

describe("the value of a sum", () => {
  test.each([
    ["2 + 3 * 4 ^ 2", 50],
    ["10 - 4 - 3", 3],
    ["2 ^ 3 ^ 2", 512],
    ["(1 + 2) * (3 + 4)", 21],
    ["2 * -3", -6],
    ["0.1 + 0.2", 0.3],
    ["1.1 * 3", 3.3],
    ["7 / 0", Number.POSITIVE_INFINITY],
    ["7 / 0 + 1", Number.NaN],
  ])("%s is %d", (sum, expected) => {
    expect(evaluate(sum, calculate)).toBe(expected);
  });

  test("is the same as with all parentheses", () => {
    type Tree = number | readonly [Tree, "+" | "-" | "*", Tree];
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.integer({ min: 0, max: 99 }),
        fc.tuple(tie("tree"), fc.constantFrom("+" as const, "-" as const, "*" as const), tie("tree")),
      ),
    }));
    const worth = (it: Tree): number =>
      typeof it === "number" ? it : calculate(it[1], worth(it[0]), worth(it[2]));
    const written = (it: Tree): string =>
      typeof it === "number" ? String(it) : `(${written(it[0])} ${it[1]} ${written(it[2])})`;
    fc.assert(fc.property(tree, (it) => evaluate(written(it), calculate) === worth(it)));
  });

  test("asks for both sides before it waits for either", () => {
    const asked: string[] = [];
    const pending = (operator: string, a: number, b: number) => void asked.push(`${a} ${operator} ${b}`);
    expect(evaluate("(1 + 2) * (3 + 4)", pending as () => undefined)).toBeUndefined();
    expect(asked).toEqual(["1 + 2", "3 + 4"]);
  });
});
