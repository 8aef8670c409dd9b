import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";

/** The verdict, and what it took. */
function match(source: string, text: string): { fits: boolean; steps: number } {
  let steps = 0;
  const fits = compilePattern(source)(text, (more) => {
    steps += more;
  });
  return { fits, steps };
}

describe("matches as RegExp does", () => {
  test.each([
    ["^[a-z]+@[a-z]+\\.org$", ["ada@example.org", "ada@example.com", "@.org", ""]],
    ["^\\d{4}-\\d\\d-\\d\\d$", ["2026-01-02", "2026-1-2", "x2026-01-02", "2026-01-021"]],
    ["a|bc|", ["", "x"]],
    ["^(?:ab|cd){2,3}$", ["ab", "abcd", "ababab", "abababab", "abc"]],
    ["^(?:a?){3}$", ["", "a", "aaa", "aaaa"]],
    ["^(a*)*$", ["", "aaaa", "aab"]],
    ["^(?:)*x$", ["x", "y"]],
    ["^.{2,5000}$", ["a", "ab", "😀😀", "😀", "a\nb"]],
    ["^.{3,}$", ["ab", "abc", "abcd"]],
    ["^\\p{Lu}\\P{Lu}*$", ["Äpfel", "äpfel", "ÄÄ"]],
    ["^[^\\]\\\\]+$", ["abc", "a]c", "a\\c"]],
    ["^\\u{1F600}|\\uD83D\\uDE00\\x41$", ["😀", "😀A", "A"]],
    ["\\bword\\b", ["a word here", "swords", "word"]],
    ["a\\Bb", ["ab", "a b"]],
    ["^(?=.*\\d)(?=.*[a-z]).{4,}$", ["abc1", "abcd", "1234", "a1"]],
    ["^(?!.*\\.\\.).+$", ["a/b", "a/../b"]],
    ["(?<=\\$)\\d+", ["$42", "42", "€42"]],
    ["(?<!ab|😀)c", ["abc", "xc", "c", "😀c"]],
    ["(?<year>\\d{4})", ["in 2026", "in 202"]],
    ["^a\\/b\\-c\\.d$".replace("\\-", "-"), ["a/b-c.d", "a/b-cxd"]],
    ["\\n\\t\\cA\\0", ["\n\t\u0001\0", "nt"]],
    ["^[\\b\\s-]$", ["\b", " ", "-", "b"]],
    ["^\\ud83d$", ["\ud83d", "😀"]],
    ["a{2}?b+?c*?d??$", ["aab", "ab", "aabbccd"]],
  ])("about %s", (source, texts) => {
    for (const text of texts)
      expect([source, text, match(source, text).fits]).toEqual([
        source,
        text,
        RegExp(source, "u").test(text),
      ]);
  });

  test("about patterns of any shape", () => {
    const atoms = ["a", "b", ".", "[ab]", "[^a]", "\\w", "^", "$", "\\b", "\\B", "😀", "\\u{1f600}"];
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 5, depthSize: "medium" },
        fc.constantFrom(...atoms),
        fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
        fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
        fc
          .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "*?", "{0}", "{2}", "{1,}", "{0,2}", "{1,3}"))
          .map(([inner, times]) => `(${inner})${times}`),
        fc
          .tuple(fc.constantFrom("a", "[ab]", "."), fc.constantFrom("*", "+", "{2}", "{1,}", "{2,}", "{1,3}"))
          .map(([inner, times]) => `${inner}${times}`),
        fc
          .tuple(fc.constantFrom("(?=", "(?!", "(?<=", "(?<!"), tie("pattern"))
          .map(([look, inner]) => `${look}${inner})`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "😀", "\ud83d"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, value) => {
        // From the start on, because V8 also tries the middle of a character of two units, which the standard does not.
        expect(match(source, value).fits).toBe(RegExp(`^[^]*?(?:${source})`, "u").test(value));
      }),
      { numRuns: 2000 },
    );
  });
});

test.each([
  ["^(a+)+$", "a", "!"],
  ["^(a|a)*$", "a", "!"],
  ["^(a|aa)+$", "a", "!"],
  ["(.*)*(.*)*(.*)*x", "a", ""],
  ["^([a-z]+-?)*\\.$", "ab", "!"],
  ["a+b", "a", ""],
  ["^(?=(a+)+b)", "a", ""],
])("%s takes twice as long for twice the text", (source, unit, end) => {
  const stepsFor = (count: number) => match(source, unit.repeat(count) + end).steps;
  expect(match(source, unit.repeat(100) + end).fits).toBe(false);
  expect(stepsFor(8000)).toBeLessThan(2.5 * stepsFor(4000));
});

test.each(["(?:){4000000000}", "((?:){9999999}){9999999}", "(?:a{0}){4000000000}"])(
  "%s repeats nothing, which takes no time",
  (source) => {
    expect(match(source, "a").fits).toBe(true);
  },
);

test("a pattern that looks ahead at each place pays for each", () => {
  let left = 100_000;
  const spend = (steps: number) => {
    left -= steps;
    if (left < 0) throw new Error("enough");
  };
  expect(() => compilePattern("(?=a*b)c")("a".repeat(100_000), spend)).toThrow("enough");
});

test.each([
  ["(", "Unterminated group"],
  ["a**", "Nothing to repeat"],
  ["(a)\\1", "Backreferences"],
  ["(?<n>a)\\k<n>", "Backreferences"],
  ["(?i:a)", "Groups with flags"],
  ["\\p{Nothing}", "Invalid property name"],
  ["[\\p{L}-z]", "Invalid character class"],
  ["\\\\p{L}", "Invalid regular expression"],
  ["(?:(?:(?:ab){50}){50}){50}", "too large"],
  ["\\p{L}".repeat(51), "too large"],
  ["a".repeat(4001), "at most 4000"],
  [`${"(".repeat(200)}a${")".repeat(200)}`, "more than 100 levels"],
])("%s is refused", (source, message) => {
  expect(() => compilePattern(source)).toThrow(message);
});
