import { describe, expect, test } from "vitest";
import { materialOf, stepsOf } from "./prompt.ts";

describe("a prompt", () => {
  test.each([
    ["What is 1 + 1? And 2.5 + 1.", ["What is 1 + 1", "And 2.5 + 1"]],
    ["What is 1 + 1, and what is 2 + 2?", ["What is 1 + 1", "what is 2 + 2"]],
    ["add 1 and 2, then multiply by 10", ["add 1 and 2", "→ multiply by 10"]],
    ["Add 1 and 2. Then double it, and then say it", ["Add 1 and 2", "→ double it", "→ say it"]],
    ['say "one. two? then three", then stop', ['say "one. two? then three"', "→ stop"]],
    ["then go on", ["go on"]],
    ["Add 1 and 2, and what time is it?", ["Add 1 and 2", "what time is it"]],
    ["Add 1 and 2. Multiply it by 3.", ["Add 1 and 2", "→ Multiply it by 3"]],
    ["the thenar and theology", ["the thenar and theology"]],
    [" \n ?! ", []],
    ["a! ".repeat(20), Array(16).fill("a")],
  ])("%j is split into steps", (prompt, expected) => {
    expect(stepsOf(prompt).map(({ text, isNext }) => (isNext ? `→ ${text}` : text))).toEqual(expected);
  });

  test.each([
    ["What is the weather in Paris?", ["Paris"], []],
    ['Find "red fox" and "dog" in 3 files', ["red fox", "dog"], [3]],
    ["Echo hello", ["hello"], []],
    ["Roll 2 dice, -1.5", ["2 dice, -1.5"], [2, -1.5]],
  ])("%j gives texts and numbers", (prompt, texts, numbers) => {
    expect(materialOf(prompt)).toMatchObject({ texts, numbers });
  });
});
