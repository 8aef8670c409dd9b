// The frame of the console, in a real browser.
import { describe, expect, test } from "vitest";
import { browserPath, openConsole, skipReason, takeScreenshot } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

describe.skipIf(browserPath === undefined)(`the frame of the console${skipReason}`, () => {
  const browser = sharedBrowser();

  test("shows every page, without an error or a request to another origin", async () => {
    await using server = await startConsole();
    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    for (const title of ["Chat", "Runs", "Tools", "Models", "System", "API", "Home"]) {
      await page.getByRole("navigation").getByRole("link", { name: title, exact: true }).click();
      await expect.poll(() => page.title()).toBe(`${title} – Rondo`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    expect(problems).toEqual([]);
  });

  test("finds pages by Ctrl-K with the keyboard alone, and gives the focus back", async () => {
    await using server = await startConsole();
    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    const search = page.getByRole("button", { name: "Search" });
    await search.focus();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search" });
    await field.waitFor();
    const selected = page.getByRole("option", { selected: true });
    await page.getByRole("option").first().waitFor();
    const [first, second] = await page.getByRole("option").allTextContents();
    expect(await selected.textContent()).toBe(first);
    await page.keyboard.press("ArrowDown");
    expect(await selected.textContent()).toBe(second);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await selected.textContent()).not.toBe(first);
    // The focus stays inside, and Escape gives it back.
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest(".shell > :not(dialog)"))).toBe(null);
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    expect(await search.evaluate((element) => element === document.activeElement)).toBe(true);

    await page.keyboard.press("Control+k");
    await field.waitFor();
    await field.pressSequentially("no such thing");
    await page.getByText("Nothing fits.").waitFor();
    await field.fill("syst");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "System" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Go to Models").waitFor();
    await takeScreenshot(page, "shortcuts");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await field.waitFor();
    await takeScreenshot(page, "palette");
    expect(problems.filter((line) => !line.includes("404"))).toEqual([]);
  });
});
