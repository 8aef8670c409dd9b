// What people take for granted, in a real browser: where the focus is, copying, and a server that was away.
import type { Page } from "playwright-core";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { startLine } from "../testkit/breakable-line.ts";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { respond } from "../testkit/pages.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

describe.skipIf(browserPath === undefined)(`habits${skipReason}`, () => {
  const browser = sharedBrowser();

  test("the focus goes on from where it was", async () => {
    using model = scriptedModel(["One.", "Two."]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    await page.getByRole("textbox", { name: "Write a message" }).fill("1");
    await page.keyboard.press("Enter");
    await page.getByText("One.").waitFor();
    const edit = page.getByRole("button", { name: "Edit" });
    await edit.press("Enter");
    await page.getByRole("textbox", { name: "Message", exact: true }).press("Escape");
    await expectFocus(page, "Edit");
    await page.getByRole("button", { name: "Again" }).press("Enter");
    await page.getByText("Two.").waitFor();
    await expectFocus(page, "Write a message");
    await page.getByRole("button", { name: "Previous branch" }).press("Enter");
    await page.getByText("One.").waitFor();
    await expectFocus(page, "Next branch");
    await page.getByRole("link", { name: "Run", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Copy as code" }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
    await page.evaluate(() => {
      location.hash = "#/chat";
    });
    await page.getByRole("button", { name: /^Delete the chat/ }).press("Enter");
    await page.getByRole("button", { name: "Delete?" }).press("Enter");
    await page.getByText("Chats that you begin are kept here.").waitFor();
    await expectFocus(page, "New chat");
  });

  test("what was opened while the server was away is there when it is back", async () => {
    await using server = await startConsole();
    const id = await respond(server.url, { input: "Hello there", metadata: { source: "console" } });
    await using line = await startLine(server.url);
    await using opened = await openConsole(browser, line.url, "#/chat");
    const { page } = opened;
    await page.getByRole("link", { name: /^Hello there/ }).waitFor();
    const title = page.getByRole("heading", { level: 1 });
    line.cut();
    await page.getByRole("link", { name: /^Hello there/ }).click();
    await page.getByText("This chat could not be loaded.").waitFor();
    expect(await page.getByRole("textbox", { name: "Write a message" }).count()).toBe(0);
    line.mend();
    await title.filter({ hasText: "Hello there" }).waitFor();
    line.cut();
    await page.evaluate((run) => {
      location.hash = `#/runs/${run}`;
    }, id);
    await page.getByText("This page could not be loaded.").waitFor();
    await page.getByText("The server does not answer. Trying again").waitFor();
    line.mend();
    await title.filter({ hasText: "Hello there" }).waitFor();
    expect(await page.getByRole("button", { name: "Copy as code" }).count()).toBe(1);
  });

  test("a run that is cancelled keeps the focus on its page, and one that is deleted elsewhere says so", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel({ text: ["Once upon", gate.promise] });
    await using server = await startConsole({ models: { scripted: model } });
    const body = { model: "scripted", input: "A story", background: true };
    const first = await respond(server.url, body);
    await using opened = await openConsole(browser, server.url, `#/runs/${first}`);
    const { page } = opened;
    await page.getByText("Once upon").waitFor();
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    await page.getByText("It was cancelled.").waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
    const second = await respond(server.url, body);
    await page.goto(`${server.url}/#/runs/${second}`);
    await page.getByText("Once upon").waitFor();
    await fetch(`${server.url}/v1/responses/${second}`, { method: "DELETE" });
    await page.getByText("It may have been deleted").waitFor();
    gate.resolve();
  });

  test("copying works on pages without TLS", async () => {
    using model = scriptedModel(["```js\nlet a = 1;\n```\n"]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    // As browsers have it there.
    await page.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined });
      document.addEventListener("copy", () => {
        Object.assign(globalThis, { copied: String(getSelection()) });
      });
    });
    const copied = () => page.evaluate(() => (globalThis as { copied?: string }).copied);
    await page.goto(`${server.url}/#/chat`);
    await page.reload();
    await page.getByRole("textbox", { name: "Write a message" }).fill("Code, please.");
    await page.keyboard.press("Enter");
    await page.locator(".markdown").getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").waitFor();
    expect(await copied()).toBe("let a = 1;");
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Copy as code" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").waitFor();
    expect(await copied()).toContain("Code, please.");
    expect(problems).toEqual([]);
  });

  test("a long chat opens at its end with a few requests, and a long answer in parts", async () => {
    const long = Array.from({ length: 2_500 }, (_, n) => `## Part ${n}\n\n${"word ".repeat(15)}`).join(
      "\n\n",
    );
    using model = scriptedModel([
      ...Array.from({ length: 70 }, (_, n) => `Answer ${n}.\n\n`.padEnd(300, "- a\n")),
      "Well.",
      long,
    ]);
    await using server = await startConsole({ models: { scripted: model } });
    let id: string | undefined;
    for (let n = 0; n < 70; n += 1)
      id = await respond(server.url, { model: "scripted", input: `Question ${n}`, previous_response_id: id });
    await using opened = await openConsole(browser, server.url);
    const { page } = opened;
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${server.url}/#/chat/${id}`);
    const messages = page.getByRole("list", { name: "Messages" });
    await messages.getByText("Answer 69.").waitFor();
    await messages.getByText("Answer 0.").waitFor({ state: "attached" });
    expect(asked.filter((url) => url.includes("include=response")).length).toBe(3);
    expect(asked.filter((url) => url.includes("/v1/responses"))).toEqual([]);
    const leftBelow = () =>
      page.evaluate(() => document.documentElement.scrollHeight - scrollY - innerHeight);
    await expect.poll(leftBelow).toBeLessThan(2);
    // It stays there if it shrinks for the length of a frame, also where browsers do not hold on to what is in view.
    await messages.evaluate(async (list) => {
      document.documentElement.style.overflowAnchor = "none";
      const turn = list.lastElementChild as HTMLElement;
      await new Promise(requestAnimationFrame);
      turn.style.display = "none";
      await new Promise((resolve) => setTimeout(resolve));
      turn.style.display = "";
      await new Promise(requestAnimationFrame);
    });
    await expect.poll(leftBelow).toBeLessThan(2);
    // Also if it has grown again, and more, before a frame shows it.
    await messages.evaluate(async (list) => {
      const turn = list.lastElementChild as HTMLElement;
      turn.style.display = "none";
      void document.documentElement.scrollHeight;
      turn.style.display = "";
      turn.style.paddingBottom = "500px";
      await new Promise(requestAnimationFrame);
    });
    await expect.poll(leftBelow).toBeLessThan(2);
    // What is far away is text, and becomes Markdown on the way there.
    const first = messages.getByRole("listitem").filter({ hasText: "Answer 0." }).first();
    expect(await first.locator("ul").count()).toBe(0);
    await page.mouse.move(640, 300);
    await page.mouse.wheel(0, -1_000_000);
    await first.locator("ul").waitFor();

    // So does one whose history another client sent.
    const input = Array.from({ length: 121 }, (_, n) => ({
      role: n % 2 ? "assistant" : "user",
      content: `Line ${n}`,
    }));
    const other = await respond(server.url, { model: "scripted", input });
    await page.goto(`${server.url}/#/chat/${other}`);
    await page.getByText("Line 120", { exact: true }).waitFor();

    const much = await respond(server.url, { model: "scripted", input: "Much, please." });
    await page.goto(`${server.url}/#/chat/${much}`);
    const parts = page.locator(".markdown h2");
    await page.getByText(/^The first 99[.,]\d{3} of/).waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".markdown h2").length > 1_000);
    expect(await parts.count()).toBeLessThan(1_300);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".markdown h2").length === 2_500);
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
  });
});

async function expectFocus(page: Page, name: string): Promise<void> {
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.closest("label, a, button")?.textContent?.trim();
    });
  await expect.poll(focused).toBe(name);
}
