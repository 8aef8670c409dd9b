// The frame of the console, in a real browser.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, openConsole, skipReason, startBrowser } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";

describe.skipIf(browserPath === undefined)(`the frame of the console${skipReason}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("shows every page, without an error or a request to another origin", async () => {
    await using server = await startConsole();
    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    for (const title of ["Chat", "Runs", "Tools", "Models", "System", "API", "Home"]) {
      await page.getByRole("navigation").getByRole("link", { name: title, exact: true }).click();
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await page.title()).toBe(`${title} – Rondo`);
    }
    expect(problems).toEqual([]);
  });
});
