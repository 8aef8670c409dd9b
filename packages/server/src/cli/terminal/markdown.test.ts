// Markdown in a terminal: what it looks like, and that streaming changes nothing of it.
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MarkdownWriter } from "./markdown.ts";
import { createStyle } from "./style.ts";

const style = createStyle(true);
const { bold, italic, cyan, dim } = style;

/** What is drawn, in the pieces in which it is drawn. */
function draw(pieces: readonly string[], columns = 80): string[] {
  const writer = new MarkdownWriter(style, () => columns);
  return [...pieces.map((piece) => writer.write(piece)), writer.end()];
}

const rendered = (text: string, columns?: number) => draw([text], columns).join("");

test.each([
  ["Hello, **you**!", `Hello, ${bold("you")}!`],
  ["*so* and _so_", `${italic("so")} and ${italic("so")}`],
  ["**bold with `code`**", bold(`bold with ${cyan("code")}`)],
  ["a `*b*` c", `a ${cyan("*b*")} c`],
  ["``a ` b``", cyan("a ` b")],
  ["# Title\ntext", `${bold("Title")}\ntext`],
  ["- one\n  * two\n1. three", "• one\n  • two\n1. three"],
  ["> said", `${dim("│ ")}said`],
  ["```ts\nconst a = **b**;\n```\nok", `${dim("```ts")}\n${cyan("const a = **b**;")}\n${dim("```")}\nok`],
  ["\\*not\\*", "*not*"],
])("%j is drawn with styles", (text, expected) => {
  expect(rendered(text)).toBe(expected);
});

test.each([
  "2 * 3 * 4",
  "snake_case_name and __init__x",
  "**never closed",
  "a `never closed",
  "#hashtag",
  "-5 degrees",
  "| not a table",
  "---",
  "C:\\dir",
  "",
])("%j is text", (text) => {
  expect(rendered(text)).toBe(text);
});

describe("a table", () => {
  const table = "| name | n |\n|:--|--:|\n| **Ada** | 1 |\n| 日本 | 22 |\nDone.";

  test("has columns of equal width", () => {
    expect(stripVTControlCharacters(rendered(table))).toBe(
      "name │  n\n─────┼───\nAda  │  1\n日本 │ 22\nDone.",
    );
  });

  test("that is too wide for the terminal, or whose rows have too many cells, stays as it came", () => {
    expect(rendered(table, 8)).toBe(table);
    const wider = "|a|b\n|---|\n|c|d|";
    expect(rendered(wider)).toBe(wider);
  });

  test("is drawn also where the answer ends with it", () => {
    expect(stripVTControlCharacters(rendered("| a |\n|---|\n| b |"))).toBe("a\n─\nb");
    expect(rendered("| a |")).toBe("| a |");
  });
});

test("plain text is drawn as it comes, and an open mark holds back only what follows it", () => {
  expect(draw(["Once", " upon", " **a", " time** ", "so"])).toEqual([
    "Once",
    " upon",
    " ",
    `${bold("a time")} `,
    "so",
    "",
  ]);
});

const piece = fc.oneof(
  fc.constantFrom(
    "*",
    "**",
    "_",
    "`",
    "```",
    "\n",
    "# ",
    "- ",
    "> ",
    "|",
    "|---|",
    "\\",
    " ",
    "a",
    "b c",
    "~~~",
    "é",
    "日",
  ),
  fc.string({ maxLength: 4 }).map((text) => text.replace(/\p{Cc}/gu, "")),
);

test("streamed in any pieces, it ends up the same", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(visible(draw(pieces).join(""))).toBe(visible(rendered(pieces.join(""))));
    }),
    { numRuns: 1000 },
  );
});

test("no letter of an answer is lost", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const letters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "");
      expect(letters(visible(draw(pieces).join("")))).toBe(letters(pieces.join("")));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  "*".repeat(100_000),
  "`a".repeat(50_000),
  "**a ".repeat(30_000),
  "|a".repeat(50_000),
  "_".repeat(100_000),
])("hostile text takes linear time (%#)", (text) => {
  const drawn = draw(text.match(/.{1,50}/gs) ?? []).join("");
  expect(visible(drawn).length).toBeGreaterThan(0);
});

function visible(text: string): string {
  return stripVTControlCharacters(text);
}

describe("a flood of marks", () => {
  const row = (cell: string) => `${cell.repeat(1000)}\n`;

  test.each([
    ["opened and never closed", "*a ".repeat(50_000), 4],
    ["in long lines", row("*a ").repeat(50), 4000],
    ["in a table of a thousand columns", row("|a") + row("|-") + row("|*b").repeat(50), 4],
    ["before a table's second line", `|a\n${" ".repeat(300_000)}\n`, 400_000],
  ])("%s is drawn as it came, in linear time", (_name, text, size) => {
    const count = Math.ceil(text.length / size);
    const pieces = Array.from({ length: count }, (_, index) => text.slice(index * size, (index + 1) * size));
    expect(draw(pieces).join("").length).toBeGreaterThanOrEqual(text.trimEnd().length);
  });
});
