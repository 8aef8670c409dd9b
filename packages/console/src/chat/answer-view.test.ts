// What an answer says about itself to screen readers.
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

describe.skipIf(browserPath === undefined)(`the state of an answer${skipReason}`, () => {
  const browser = sharedBrowser();

  test("is how it ended: complete, stopped, cut off or failed", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel([
      "All of it.",
      { text: ["Once upon", gate.promise] },
      { text: "Half", finishReason: "length" },
      { error: new Error("The GPU is on fire.") },
    ]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    const states: string[] = [];
    const ask = async (text: string) => {
      await page.getByRole("textbox", { name: "Write a message" }).fill(text);
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator(".answer-state").count()).toBe(states.length + 1);
    };
    const ended = async () => {
      await page.locator(".answer-state").last().locator(".visually-hidden").waitFor({ state: "attached" });
      states.push((await page.locator(".answer-state").last().textContent()) ?? "");
    };
    await ask("1");
    await ended();
    await ask("2");
    await page.getByText("Once upon").waitFor();
    await page.waitForURL(/#\/chat\/resp_/);
    await page.getByRole("button", { name: "Stop" }).click();
    await ended();
    await ask("3");
    await ended();
    await ask("4");
    await ended();
    expect(states).toEqual([
      "The answer is complete.",
      "The answer was stopped.",
      "The answer ended early.",
      "There is no complete answer.",
    ]);
  });
});
