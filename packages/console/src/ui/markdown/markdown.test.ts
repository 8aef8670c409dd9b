// Markdown of models, in a real browser: what it becomes, and what it must not.
import type { Page } from "playwright-core";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { browserPath, openConsole, skipReason } from "../../testkit/browser.ts";
import { startConsole } from "../../testkit/console-server.ts";
import { hostileTexts } from "../../testkit/hostile-texts.ts";
import { sampleText } from "../../testkit/sample-text.ts";
import { sharedBrowser } from "../../testkit/shared-browser.ts";

/** What may be below the text of a model, with the parts that the console itself adds. */
const allowed =
  "P BR HR H1 H2 H3 H4 H5 H6 BLOCKQUOTE UL OL LI STRONG EM DEL CODE PRE A TABLE THEAD TBODY TR TH TD";
const own = "DIV.code-block DIV.code-head DIV.wide-table SPAN BUTTON.button quiet";
const attributes = "href rel target start align data-language data-long tabindex class type aria-live";

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.keyboard.press("Enter");
}

describe.skipIf(browserPath === undefined)(`Markdown of a model${skipReason}`, () => {
  const browser = sharedBrowser();

  test("stays within a short list of elements, and makes no request, script or dialog", async () => {
    // All at once, each on its own, and cut in pieces as a stream would.
    const whole = [sampleText, ...hostileTexts].join("\n\n");
    // Longer than what is read in one frame.
    const long = `${"word ".repeat(8_000)}\n\nThe end.`;
    const pieces = whole.match(/[\s\S]{1,7}/g) ?? [];
    using model = scriptedModel([{ text: whole }, { text: pieces }, ...hostileTexts.slice(0, 3), long]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page, problems } = opened;
    const dialogs: string[] = [];
    const requests: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("request", (request) => requests.push(new URL(request.url()).origin));
    await ask(page, hostileTexts[2] ?? "");
    await page.getByRole("button", { name: "Again" }).waitFor();
    await page.getByRole("button", { name: "Again" }).click();
    await page.getByText("2/2").waitFor();
    // The button of the first answer may still be there for a moment.
    await expect.poll(() => model.requests.length).toBe(2);
    await page.getByRole("button", { name: "Again" }).waitFor();
    // What came in pieces looks like what came at once.
    const html = async () => {
      // The last block is there: rendering may take longer than the answer.
      await page.waitForFunction(() =>
        [...document.querySelectorAll(".markdown pre")].at(-1)?.textContent?.startsWith("</code></pre><img"),
      );
      return page.locator(".markdown").last().innerHTML();
    };
    const inPieces = await html();
    expect(await page.locator('.markdown td[align="right"]').allTextContents()).toEqual(["2"]);
    expect(await page.locator(".markdown .code-head span").first().textContent()).toBe("ts");
    expect(await page.locator('.markdown ol[start="3"]').count()).toBe(1);
    await page.getByRole("button", { name: "Previous branch" }).click();
    await page.getByText("1/2").waitFor();
    await page.evaluate(() => scrollTo(0, 0)); // what is far away is text
    await page.locator(".markdown h1").first().waitFor();
    expect(inPieces).toBe(await html());
    for (const text of hostileTexts.slice(0, 3)) {
      await ask(page, text);
      await expect.poll(() => page.getByRole("button", { name: "Again" }).count()).toBeGreaterThan(1);
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    }
    await ask(page, "Go on");
    await page.locator(".markdown p", { hasText: /^The end\.$/ }).waitFor();
    expect(await page.locator(".markdown p[data-long]").count()).toBeGreaterThan(0);
    const found = await page.evaluate(() =>
      [...document.querySelectorAll(".markdown *")].map((node) => ({
        name: node.tagName,
        className: node.className,
        attributes: [...node.attributes].map((it) => it.name),
        href: node.getAttribute("href"),
        rel: node.getAttribute("rel"),
        target: node.getAttribute("target"),
      })),
    );
    const isOwn = (name: string, className: string) =>
      own.includes(className === "" ? name : `${name}.${className}`);
    expect(found.length).toBeGreaterThan(100);
    for (const { name, className, href, rel, target, attributes: names } of found) {
      const isAllowed = className === "" && allowed.split(" ").includes(name);
      expect([name, className, isAllowed || isOwn(name, className)]).toEqual([name, className, true]);
      expect(names.filter((it) => !attributes.split(" ").includes(it))).toEqual([]);
      if (href === null) continue;
      expect(href).toMatch(/^(?:https?:\/\/|mailto:)/);
      expect([rel, target]).toEqual(["noopener noreferrer nofollow", "_blank"]);
    }
    // Nor is there anything elsewhere on the page.
    expect(await page.locator("iframe, object, embed, form[action], math, video, base, style").count()).toBe(
      0,
    );
    expect(dialogs).toEqual([]);
    expect(requests.filter((origin) => origin !== server.url)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
