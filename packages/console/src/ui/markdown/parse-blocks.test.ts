import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostileTexts } from "../../testkit/hostile-texts.ts";
import { parseBlocks, toHtml } from "./parse-blocks.ts";

const allBlocks = (text: string) => {
  const { complete, open } = parseBlocks(text);
  return [...complete, ...open];
};
const htmlOf = (text: string) => allBlocks(text).map(toHtml).join("");

/** As the view does while a text grows: complete blocks stay, and the others are read again. */
function htmlInSteps(text: string, step: number): string {
  let start = 0;
  let shown = "";
  let last = "";
  for (let end = step; end < text.length + step; end += step) {
    const { complete, open } = parseBlocks(text.slice(start, end));
    shown += complete.map(toHtml).join("");
    for (const { raw } of complete) start += raw.length;
    last = open.map(toHtml).join("");
  }
  return shown + last;
}

/** Not the beginning of an HTML comment: the lines before it may be read either way until it ends. */
const pieces =
  `# Head;text;**bold**;- item;  - inner;1. one;> quote;\`\`\`js;\`\`\`;| a | b |;|---|---|;    code;---;***
[a](https://b.example);[a];[a]: https://b.example;<b>;</b>;~~~;\`x\`;;;; ;\t`.split(/[;\n]/);

describe("blocks of Markdown", () => {
  test("are the same whether the text comes at once or in pieces", () => {
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, step) => {
        expect(htmlInSteps(text, step)).toBe(htmlOf(text));
      }),
    );
  });

  test("together have the whole text", () => {
    const text = [...hostileTexts, ...pieces].join("\n\n");
    const raw = allBlocks(text).map((block) => block.raw);
    expect(raw.join("")).toBe(text);
  });

  test("never pass markup of the text on", () => {
    for (const text of hostileTexts)
      expect(htmlOf(text)).not.toMatch(/<(?:img|script|svg|iframe|form|style)/i);
  });

  test("stay plain text where reading them would take long", () => {
    expect(htmlOf(`|a|\n|-|\n|${"*a_b[".repeat(300)}*a*|`)).not.toContain("<em>");
    expect(htmlOf("*a* ".repeat(2_000))).not.toContain("<em>");
    expect(htmlOf(`${">".repeat(5_000)} a`)).not.toContain("<blockquote>");
    expect(htmlOf("1. ".repeat(5_000))).not.toContain("<ol>");
    expect(htmlOf("*a* ".repeat(200))).toContain("<em>");
  });

  test("look only so far for the end of an underlined heading", () => {
    expect(htmlOf("- a\n  b\n  =\n")).toContain("<h1>");
    expect(htmlOf(`${"b\n".repeat(600)}=\n`)).not.toContain("<h1>");
  });
});
