import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clausesOf } from "./clauses.ts";

describe("a prompt", () => {
  test.each([
    ["What is 1 + 1? And 2.5 + 1.", ["What is 1 + 1", "And 2.5 + 1"]],
    ["What is 1 + 1, and what is 2 + 2?", ["What is 1 + 1", "what is 2 + 2"]],
    ["add 1 and 2, then multiply by 10", ["add 1 and 2", "→ multiply by 10"]],
    ["Add 1 and 2. Then double it, and then say it", ["Add 1 and 2", "→ double it", "→ say it"]],
    ['say "one. two? then three", then stop', ['say "one. two? then three"', "→ stop"]],
    ["Find fox in: The fox\n\nA dog", ["Find fox in", "The fox", "A dog"]],
    ["then go on", ["go on"]],
    ["the thenar and theology", ["the thenar and theology"]],
    [" \n ?! ", []],
  ])("%j is cut into its questions", (prompt, expected) => {
    expect(clausesOf(prompt).map(({ text, isNext }) => (isNext ? `→ ${text}` : text))).toEqual(expected);
  });

  test("loses no word but those between its questions", () => {
    const words = fc.constantFrom("one", "two,", "three.", "four?", "and", "what", "five:", "six\n");
    fc.assert(
      fc.property(fc.array(words), (all) => {
        const left = (text: string) => (text.match(/one|two|three|four|five|six|what/g) ?? []).join(" ");
        expect(
          left(
            clausesOf(all.join(" "))
              .map(({ text }) => text)
              .join(" "),
          ),
        ).toBe(left(all.join(" ")));
      }),
    );
  });
});
