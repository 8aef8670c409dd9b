import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculate, type Expression, written } from "./expression.ts";
import { findExpressions } from "./math-parser.ts";

const found = (text: string, isNext = false) => findExpressions(text, isNext).map(written);

describe("arithmetic is found", () => {
  test.each([
    ["What is 25 + 17?", ["25 + 17"]],
    ["25+17", ["25 + 17"]],
    ["What is 25 + 17, 3 * 4 and 5 - 2?", ["25 + 17", "3 * 4", "5 - 2"]],
    ["2 + 3 * 4 ^ 2", ["2 + 3 * 4 ^ 2"]],
    ["(1 + 2) x 3", ["(1 + 2) * 3"]],
    ["3x4", ["3 * 4"]],
    ["10 - (4 - 3)", ["10 - (4 - 3)"]],
    ["2 * -3", ["2 * (-3)"]],
    ["1,000 divided by 8", ["1000 / 8"]],
    ["what is five times six", ["5 * 6"]],
    ["2 to the power of 10", ["2 ^ 10"]],
    ["17 mod 5", ["17 % 5"]],
    ["Add 1 and 2.", ["1 + 2"]],
    ["the sum of 1, 2 and 3", ["1 + 2 + 3"]],
    ["subtract 3 from 10", ["10 - 3"]],
    ["the difference between 10 and 3", ["10 - 3"]],
    ["divide 10 by 4", ["10 / 4"]],
    ["multiply (1 + 2) by 3", ["(1 + 2) * 3"]],
    ["double 21", ["21 * 2"]],
  ])("in '%s'", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test.each([
    ["multiply by 10", "it * 10"],
    ["multiply it by 10", "it * 10"],
    ["add 5", "it + 5"],
    ["add 5 to the result", "it + 5"],
    ["subtract 5 from it", "it - 5"],
    ["subtract it from 5", "5 - it"],
    ["times 10", "it * 10"],
    ["/ 2", "it / 2"],
    ["halve it", "it / 2"],
    ["square the result", "it * it"],
  ])("that goes on from a result, in '%s'", (text, expected) => {
    expect(found(text, true)).toEqual([expected]);
  });

  test.each([
    "Hello",
    "Add 2 eggs to the list",
    "It happened on 2024-05-17 at 10:30",
    "on 17/05/2024",
    "version 1.2.3",
    "127.0.0.1 - home",
    "25km + 3km",
    "25% of 80",
    "Sum it up",
    "constructor toString __proto__ 5",
    "1 +",
    "((((((",
  ])("but not in '%s'", (text) => {
    expect(found(text)).toEqual([]);
  });

  test("as it was written, whatever it is", () => {
    const tree = fc.letrec<{ node: Expression; operation: Expression; number: Expression }>((tie) => ({
      number: fc.record({ kind: fc.constant("number" as const), value: fc.integer({ min: -999, max: 999 }) }),
      operation: fc.record({
        kind: fc.constant("operation" as const),
        operator: fc.constantFrom("+", "-", "*", "/", "%", "^"),
        left: tie("node"),
        right: tie("node"),
      }),
      node: fc.oneof({ maxDepth: 4, depthIdentifier: "tree" }, tie("number"), tie("operation")),
    }));
    fc.assert(
      fc.property(tree.operation, (expression) => {
        expect(findExpressions(`What is ${written(expression)}?`)).toEqual([expression]);
      }),
    );
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
      "x",
      ",",
      "the",
      "double",
    );
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(words, { maxLength: 60 }).map((all) => all.join(" ")),
    );
    fc.assert(
      fc.property(text, fc.boolean(), (text, isNext) => {
        for (const expression of findExpressions(text, isNext)) expect(expression.kind).toBe("operation");
      }),
    );
  });
});

test("decimal fractions come out as on paper", () => {
  expect(calculate("+", 0.1, 0.2)).toBe(0.3);
  expect(calculate("*", 1.1, 3)).toBe(3.3);
  expect(calculate("/", 1, 0)).toBe(Number.POSITIVE_INFINITY);
});
