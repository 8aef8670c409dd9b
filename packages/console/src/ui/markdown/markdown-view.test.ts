// What a text becomes while it grows, in a real document.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, skipReason } from "../../testkit/browser.ts";
import { hostileTexts } from "../../testkit/hostile-texts.ts";
import { type ModulePage, openModule } from "../../testkit/page-module.ts";
import { sampleText } from "../../testkit/sample-text.ts";
import { sharedBrowser } from "../../testkit/shared-browser.ts";
import type { MarkdownView } from "./markdown-view.ts";

declare const tested: { MarkdownView: typeof MarkdownView };

const growing: readonly (readonly [name: string, text: string])[] = [
  ["a tight list", Array.from({ length: 30 }, (_, n) => `- item **${n}**`).join("\n")],
  ["a list that becomes loose", "- one\n- two\n- three\n\n- four\n- five"],
  ["an ordered list", "3. a\n4. b\n5. c\n   - d\n   - e\n\n   f\n6. g"],
  ["a list with code", "- a\n- b\n  ```js\n  code()\n  ```\n- c\n\nend"],
  ["a list that ends", "- a\n- b\n- c\nlazy\n\nText\n- d\n- e\n1. f\n2. g"],
  ["tasks", "- [ ] a\n- [x] b\n- [ ] c"],
  ["a table", `| a | b |\n|:--|--:|\n${"| 1 | `x` |\n| 1 | y |\n".repeat(10)}\nend`],
  ["a table that breaks off", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3\n# heading"],
  ["equal rows", "| a |\n|---|\n| x |\n| x |\n| x |\n| y |"],
  ["all kinds", sampleText],
  ["what is hostile", hostileTexts.join("\n\n")],
];

describe.skipIf(browserPath === undefined)(`a Markdown text that grows${skipReason}`, () => {
  const browser = sharedBrowser();
  let opened: ModulePage;
  beforeAll(async () => {
    opened = await openModule(browser, "ui/markdown/markdown-view.ts");
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });

  test.each(growing)("looks as if it had come at once: %s", async (_name, text) => {
    const differences = await opened.page.evaluate((whole) => {
      const shown = (pieces: readonly string[]) => {
        const root = document.createElement("div");
        const view = new tested.MarkdownView(root);
        for (const piece of pieces) while (!view.update(piece));
        return root.innerHTML;
      };
      const prefixes = (step: number) =>
        Array.from({ length: Math.ceil(whole.length / step) }, (_, n) => whole.slice(0, (n + 1) * step));
      const wanted = shown([whole]);
      // Character by character where that does not take long.
      const steps = whole.length < 1_000 ? [1, 3] : [5, 17];
      return steps.filter((step) => shown(prefixes(step)) !== wanted);
    }, text);
    expect(differences).toEqual([]);
  });

  test.each([
    ["list", "- item\n", "li"],
    ["table", "| item |\n", "tbody tr"],
  ])("touches only the end of a %s, also a long one", async (kind, line, selector) => {
    const touched = await opened.page.evaluate(
      ({ start, line: added, selector: part }) => {
        const root = document.createElement("div");
        const view = new tested.MarkdownView(root);
        view.update(start + added.repeat(200));
        const before = [...root.querySelectorAll(part)];
        const observer = new MutationObserver(() => {});
        observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
        for (let count = 201; count <= 220; count += 1) view.update(start + added.repeat(count));
        const after = [...root.querySelectorAll(part)];
        return {
          count: after.length,
          kept: before.filter((node, index) => node === after[index]).length,
          changes: observer.takeRecords().length,
        };
      },
      { start: kind === "table" ? "| a |\n|---|\n" : "", line, selector },
    );
    expect(touched.count).toBe(220);
    expect(touched.kept).toBe(200);
    expect(touched.changes).toBeLessThan(100);
  });
});
