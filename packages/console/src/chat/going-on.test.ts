// A chat goes on after what did not work, and after what was stopped.
import type { Page } from "playwright-core";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { startLine } from "../testkit/breakable-line.ts";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

async function setTemperature(page: Page, value: string): Promise<void> {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("spinbutton", { name: "Temperature" }).fill(value);
  await page.keyboard.press("Escape");
}

describe.skipIf(browserPath === undefined)(`a chat goes on${skipReason}`, () => {
  const browser = sharedBrowser();

  test("after messages that were refused, the first and a later one", async () => {
    using model = scriptedModel(["One.", "Two."]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    await setTemperature(page, "99");
    await say(page, "0");
    await page.getByText("temperature: expected a number").waitFor();
    await setTemperature(page, "0.5");
    await say(page, "1");
    await page.getByText("One.").waitFor();
    await setTemperature(page, "99");
    await say(page, "refused");
    await page.getByText("temperature: expected a number").waitFor();
    await setTemperature(page, "0.5");
    await say(page, "2");
    await page.getByText("Two.").waitFor();
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(["1", "One.", "2"]);
  });

  test("after a stop before the first event, which ends the run", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Once", gate.promise] }, "Two."]);
    await using server = await startConsole({ models: { scripted: model } });
    await using line = await startLine(server.url);
    await using opened = await openConsole(browser, line.url, "#/chat");
    const { page } = opened;
    await page.getByRole("combobox", { name: "Model" }).waitFor();
    await page.getByRole("button", { name: /^Tools/ }).waitFor();
    line.hold();
    await say(page, "1");
    await expect.poll(() => model.requests.length).toBe(1);
    await page.getByRole("button", { name: "Stop" }).click();
    line.release();
    await page.getByText("Stopped. Ask to continue").waitFor();
    await model.requests[0]?.ended;
    expect(model.requests[0]?.wasLeft).toBe(true);
    await say(page, "2");
    await page.getByText("Two.").waitFor();
    const { data } = (await (await fetch(`${server.url}/v1/runs`)).json()) as { data: { status: string }[] };
    expect(data.map(({ status }) => status)).toEqual(["completed", "cancelled"]);
  });

  test("without a store, after a stop in the middle of an answer", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Once upon", gate.promise] }, "Two."]);
    await using server = await startConsole({ store: "none", models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    await say(page, "1");
    await page.getByText("Once upon").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped. Ask to continue").waitFor();
    await page.getByText("Once upon").waitFor();
    await say(page, "2");
    await page.getByText("Two.").waitFor();
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(["1", "Once upon", "2"]);
  });

  test("as it began, and leaves new chats as they are", async () => {
    using model = scriptedModel(["Arr.", "Arr again.", "Hello."]);
    await using server = await startConsole({ models: { scripted: model } });
    const reply = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "scripted", input: "hi", instructions: "You are a pirate." }),
    });
    const { id } = (await reply.json()) as { id: string };
    await using opened = await openConsole(browser, server.url, `#/chat/${id}`);
    const { page } = opened;
    await page.getByText("Arr.").waitFor();
    await setTemperature(page, "0.5");
    await say(page, "And now?");
    await page.getByText("Arr again.").waitFor();
    expect(model.requests[1]?.messages[0]).toMatchObject({ role: "system", content: "You are a pirate." });
    await page.getByRole("link", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    await say(page, "hi");
    await page.getByText("Hello.").waitFor();
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual(["user"]);
    // What a person set is kept.
    expect(model.requests[2]?.settings).toMatchObject({ temperature: 0.5 });
  });

  test("at an address without an id: it is a new one", async () => {
    using model = scriptedModel(["One."]);
    await using server = await startConsole({ models: { scripted: model } });
    await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "scripted", input: "hi" }),
    });
    await using opened = await openConsole(browser, server.url, "#/chat/");
    await opened.page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    expect(opened.problems).toEqual([]);
  });
});
