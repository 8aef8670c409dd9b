// What happens to a message whose key is refused.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { twoOwners } from "../../../server/src/http/system/testkit/start.ts";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { respond } from "../testkit/pages.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("Key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByLabel("Key").waitFor({ state: "detached" });
}

/** Requests to `path` are refused until the function that is returned is called. */
async function refuse(page: Page, path: string): Promise<() => Promise<void>> {
  const json = { error: { message: "The API key is unknown.", code: "invalid_api_key" } };
  await page.route(path, (route) => route.fulfill({ status: 401, json }));
  return () => page.unroute(path);
}

describe.skipIf(browserPath === undefined)(`a message whose key is refused${skipReason}`, () => {
  const browser = sharedBrowser();

  test("comes back with the next key of its owner, and is never shown to another", async () => {
    const { keys, auth } = twoOwners();
    await using server = await startConsole({ auth });
    const id = await respond(server.url, { input: "Hello", metadata: { source: "console" } }, keys.ann);
    await using opened = await openConsole(browser, server.url, `#/chat/${id}`);
    const { page } = opened;
    const box = page.getByRole("textbox", { name: "Write a message" });
    const end = page.getByRole("link", { name: "Run", exact: true });
    await enterKey(page, keys.ann);
    await end.waitFor();

    // Refused when it is sent.
    const accept = await refuse(page, "**/v1/responses");
    await box.fill("Ann wrote this.");
    await page.keyboard.press("Enter");
    await page.getByText("The key of this tab is no longer accepted.").waitFor();
    await accept();
    await enterKey(page, keys.ann);
    await end.waitFor();
    expect(await box.inputValue()).toBe("Ann wrote this.");

    // Refused while it is written: by what the page loads.
    await box.fill("Ann wrote this, and more.");
    const acceptAll = await refuse(page, "**/v1/runs?*");
    await page.getByRole("searchbox", { name: "Search the chats" }).fill("Hello");
    await page.getByText("The key of this tab is no longer accepted.").waitFor();
    await acceptAll();
    await enterKey(page, keys.ann);
    await end.waitFor();
    expect(await box.inputValue()).toBe("Ann wrote this, and more.");
    // Once sent, it is not there again.
    await box.press("Enter");
    await expect.poll(() => end.count()).toBe(2);
    await page.reload();
    await end.nth(1).waitFor();
    expect(await box.inputValue()).toBe("");

    // Another owner gets nothing of it.
    await box.fill("A secret of Ann.");
    const acceptBob = await refuse(page, "**/v1/responses");
    await page.keyboard.press("Enter");
    await page.getByText("The key of this tab is no longer accepted.").waitFor();
    await acceptBob();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("secret");
    await enterKey(page, keys.bob);
    await page.goto(`${server.url}/#/chat`);
    await box.waitFor();
    expect(await box.inputValue()).toBe("");
    expect(await page.content()).not.toContain("secret");
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("secret");
  });
});
