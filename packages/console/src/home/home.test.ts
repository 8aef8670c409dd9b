// The home page in a real browser.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { demoModel } from "rondo/demo";
import { describe, expect, test } from "vitest";
import { axeProblems } from "../testkit/axe.ts";
import { browserPath, openConsole, skipReason, takeScreenshot } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

describe.skipIf(browserPath === undefined)(`the home page${skipReason}`, () => {
  const browser = sharedBrowser();

  test("says what runs and what to do next, and copies programs", async () => {
    await using server = await startConsole();
    const permissions = ["clipboard-read", "clipboard-write"];
    await using opened = await openConsole(browser, server.url, "", { permissions });
    const { page, problems } = opened;
    await page.getByRole("heading", { name: "Rondo is running" }).waitFor();
    await page.getByText("The next step: a real model.").waitFor();
    await page.getByText("memory", { exact: true }).waitFor();
    await page.getByText("Answers", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`curl ${server.url}/v1/responses`);
    expect(copied).toContain('"model":"demo"');
    await page.getByRole("tab", { name: "curl" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("new OpenAI({").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    for (const [name, width] of [
      ["light-1280", 1280],
      ["light-360", 360],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await takeScreenshot(page, `home-${name}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await page.emulateMedia({ colorScheme: "dark" });
    await takeScreenshot(page, "home-dark-360");
    expect(await axeProblems(page)).toEqual([]);
    await page.getByRole("link", { name: "Start a chat" }).click();
    await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("never shows the key, and lists a model server that does not answer", async () => {
    const hash = `sha256:${createHash("sha256").update("sk-very-secret").digest("hex")}`;
    const auth = { keys: [{ owner: "ann", hash }] };
    await using server = await startConsole({
      auth,
      models: { demo: demoModel() },
      endpoints: [{ url: "http://127.0.0.1:9/v1" }],
    });
    await using opened = await openConsole(browser, server.url);
    const { page } = opened;
    await page.getByLabel("Key").fill("sk-very-secret");
    await page.keyboard.press("Enter");
    await page.getByText("RONDO_API_KEY stands for your key").waitFor();
    await page.getByText("Does not answer", { exact: true }).waitFor();
    expect(await page.content()).not.toContain("sk-very-secret");
    expect(page.url()).not.toContain("sk-very-secret");
  });

  test("takes at most 90 KB of compressed JavaScript, and Markdown and plots come later", async () => {
    await using server = await startConsole();
    const context = await browser.newContext();
    const page = await context.newPage();
    const scripts: Promise<number>[] = [];
    page.on("response", (reply) => {
      if (reply.url().endsWith(".js"))
        scripts.push(reply.body().then((body) => gzipSync(body, { level: 9 }).length));
    });
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Rondo is running" }).waitFor();
    const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThanOrEqual(90_000);
    await context.close();
  });
});
