// The chat in a real browser, against a real server with a scripted model.
import type { RunningServer } from "@rondo/server";
import type { Page } from "playwright-core";
import { tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { startNotebook } from "../../../server/src/executor/mcp/testkit/notebook-server.ts";
import { axeProblems } from "../testkit/axe.ts";
import { startLine } from "../testkit/breakable-line.ts";
import { browserPath, openConsole, skipReason, takeScreenshot } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const double = tool("double", "Double a number.", { n: Number }, ({ n }) => n * 2);

/** A black pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
  "base64",
);

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

async function post(server: RunningServer, body: object): Promise<{ id: string }> {
  const reply = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await reply.json()) as { id: string };
}

describe.skipIf(browserPath === undefined)(`the chat${skipReason}`, () => {
  const browser = sharedBrowser();

  test("shows thoughts, calls and Markdown, keeps the chat, and finds it again", async () => {
    using model = scriptedModel([
      { thinking: "I have a tool.", calls: [{ name: "add", input: { a: 25, b: 17 } }] },
      { text: ["It is **4", "2**.\n\n| a | b |\n|---|---|\n| 25 | 17 |\n\n```js\nadd(25, ", "17)\n```\n"] },
      "Gladly.",
    ]);
    await using server = await startConsole({ models: { scripted: model }, tools: [add] });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page, problems } = opened;
    await say(page, "What is 25 + 17?");
    await page.locator(".markdown strong", { hasText: "42" }).waitFor();
    await expect.poll(() => page.locator(".markdown td").allTextContents()).toEqual(["25", "17"]);
    await expect.poll(() => page.locator(".markdown pre").textContent()).toBe("add(25, 17)");
    await page.locator(".chat-call summary", { hasText: "add" }).click();
    await expect
      .poll(() => page.locator(".chat-call .code").allTextContents())
      .toEqual(['{\n  "a": 25,\n  "b": 17\n}', "42"]);
    await page.getByText("Thought about it").first().click();
    await page.locator(".chat-thinking", { hasText: "I have a tool." }).waitFor();
    await takeScreenshot(page, "chat-light-1280");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 740 });
    await takeScreenshot(page, "chat-dark-360");
    expect(await axeProblems(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1280, height: 800 });

    // The chat has an address: a reload shows the same, and the list has it.
    await page.waitForURL(/#\/chat\/resp_/);
    const url = page.url();
    await page.reload();
    await page.locator(".markdown strong", { hasText: "42" }).waitFor();
    await say(page, "Thank you!");
    await page.getByText("Gladly.").waitFor();
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual(
      "user assistant tool assistant user".split(" "),
    );
    await page.getByRole("link", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    const search = page.getByRole("searchbox", { name: "Search the chats" });
    await search.fill("no such words");
    await page.getByText("No chat has this").waitFor();
    await search.fill("25 + 17");
    await page.getByRole("link", { name: /^What is 25/ }).click();
    await page.getByText("Gladly.").waitFor();
    expect(page.url()).toBe(url);

    // Its run is one link away.
    const run = await page.getByRole("link", { name: "Run", exact: true }).last().getAttribute("href");
    expect(run).toMatch(/^#\/runs\/resp_/);

    await page.getByRole("button", { name: /^Delete the chat/ }).click();
    await page.getByRole("button", { name: "Delete?" }).click();
    await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    await search.fill("");
    await page.getByText("Chats that you begin are kept here.").waitFor();
    const kept = (await (await fetch(`${server.url}/v1/runs`)).json()) as { data: unknown[] };
    expect(kept.data).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("branches where a message is edited, also the first, and switches between the branches", async () => {
    using model = scriptedModel(["One.", "Two.", "Two b.", "First b.", "Two b, again."]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page, problems } = opened;
    await say(page, "1");
    await page.getByText("One.").waitFor();
    await say(page, "2");
    await page.getByText("Two.").waitFor();
    await page.getByRole("button", { name: "Edit" }).last().click();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("2 b");
    await page.keyboard.press("Enter");
    await page.getByText("Two b.").waitFor();
    expect(model.requests[2]?.messages.map(({ content }) => content)).toEqual(["1", "One.", "2 b"]);
    await page.getByText("2/2").waitFor();
    await page.getByRole("button", { name: "Previous branch" }).click();
    await page.getByText("Two.", { exact: true }).waitFor();

    await page.getByRole("button", { name: "Edit" }).first().click();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("1 b");
    await page.getByRole("button", { name: "Send as a branch" }).click();
    await page.getByText("First b.").waitFor();
    expect(model.requests[3]?.messages.map(({ content }) => content)).toEqual(["1 b"]);
    const thread = page.url().replace(/\?.*/, "");
    await page.reload(); // all branches are found again, and the newest is shown
    await page.getByText("First b.").waitFor();
    await page.getByRole("button", { name: "Previous branch" }).click();
    await page.getByText("Two b.").waitFor();
    expect(await page.locator(".chat-entry").count()).toBe(1);

    // As the page of a run links here: a response whose message is edited.
    const from = await page.getByRole("link", { name: "Run", exact: true }).last().getAttribute("href");
    await page.goto("about:blank");
    await page.goto(`${thread}?from=${from?.replace("#/runs/", "")}&edit=1`);
    const box = page.getByRole("textbox", { name: "Message", exact: true });
    await expect.poll(() => box.inputValue()).toBe("2 b");
    await box.fill("2 b again");
    await page.keyboard.press("Enter");
    await page.getByText("Two b, again.").waitFor();
    await page.getByText("3/3").waitFor();

    // The id of any response leads to its chat.
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/chat/${from?.replace("#/runs/", "")}?model=other`);
    await page.getByText("Two b.", { exact: true }).waitFor();
    await page.getByText("2/3").waitFor();
    expect(problems).toEqual([]);
  });

  test("gives a message that is edited the focus as soon as its box is there", async () => {
    using model = scriptedModel(["One."]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    await say(page, "1");
    await page.getByText("One.").waitFor();
    // A frame later, the cursor would move while a person types already.
    const hasFocus = await page.getByRole("button", { name: "Edit" }).evaluate(
      (button) =>
        new Promise((resolve) => {
          new MutationObserver(() => {
            const box = document.querySelector(".is-edited textarea");
            if (box) resolve(box === document.activeElement);
          }).observe(document.body, { childList: true, subtree: true });
          (button as HTMLButtonElement).click();
        }),
    );
    expect(hasFocus).toBe(true);
  });

  test("stops, goes on after a reload in mid-stream, and tries again after a failure", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const model = scriptedModel([
      { text: ["Once upon", gates[0].promise] },
      { text: ["There was", gates[1].promise, " a loop."] },
      { error: new Error("The GPU is on fire.") },
      "All is well.",
    ]);
    await using server = await startConsole({ models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    await say(page, "A story, please.");
    await page.getByText("Once upon").waitFor();
    const draft = page.getByRole("textbox", { name: "Write a message" });
    await draft.fill("Written meanwhile");
    await page.waitForURL(/#\/chat\/resp_/);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped. Ask to continue").waitFor();
    await page.getByText("Once upon").waitFor();
    await model.requests[0]?.ended;
    expect(await draft.inputValue()).toBe("Written meanwhile");
    await say(page, "Go on.");
    await page.getByText("There was").waitFor();
    await page.waitForURL(/#\/chat\/resp_/);
    await page.reload();
    await page.getByText("There was").waitFor();
    gates[1].resolve();
    await page.getByText("There was a loop.").waitFor();
    await say(page, "And then?");
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await page.getByText("All is well.").waitFor();
    await page.getByText("2/2").waitFor();
    expect(model.requests.map(({ wasLeft }) => wasLeft)).toEqual([true, false, false, false]);
  });

  test("goes on when the connection is back", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Once upon", gate.promise, " a time."] }]);
    await using server = await startConsole({ models: { scripted: model } });
    await using line = await startLine(server.url);
    await using opened = await openConsole(browser, line.url, "#/chat");
    const { page } = opened;
    await say(page, "A story, please.");
    await page.getByText("Once upon").waitFor();
    line.cut();
    await page.getByText("The server does not answer. Trying again").waitFor();
    gate.resolve();
    await model.requests[0]?.ended;
    line.mend();
    await page.getByText("Once upon a time.").waitFor();
    expect(model.requests).toHaveLength(1);
  });

  test("works without a store, for as long as the page is open", async () => {
    using model = scriptedModel(["First.", "Second."]);
    await using server = await startConsole({ store: "none", models: { scripted: model } });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page, problems } = opened;
    await page.getByText("This server keeps no chats").waitFor();
    await say(page, "1");
    await page.getByText("First.").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    await say(page, "2");
    await page.getByText("Second.").waitFor();
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(["1", "First.", "2"]);
    expect(await page.getByRole("link", { name: "Run", exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("asks for approval, and for the result of a function that has no client", async () => {
    const notebook = await startNotebook();
    using model = scriptedModel([
      { calls: [{ name: "pay", input: { n: 7 } }] },
      "Paid.",
      { calls: [{ name: "ask_client", input: { q: 1 } }] },
      "So it is 12.",
    ]);
    await using server = await startConsole({
      models: { scripted: model },
      mcp: { servers: { notes: { url: notebook.url, requireApproval: ["pay"] } } },
    });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page, problems } = opened;
    await say(page, "Pay 7.");
    await page.getByText("The model wants to call").waitFor();
    await takeScreenshot(page, "chat-approval-light-1280");
    expect(await axeProblems(page)).toEqual([]);
    expect(notebook.calls).toEqual([]);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Paid.").waitFor();
    expect(notebook.calls).toEqual(['pay({"n":7})']);
    await page.getByText("You approved the call.").waitFor();

    const functions = [{ type: "function", name: "ask_client", parameters: { type: "object" } }];
    const { id } = await post(server, { model: "scripted", input: "Ask.", tools: functions });
    await page.goto(`${server.url}/#/chat/${id}`);
    await page.getByText("which its client would run").waitFor();
    await page.getByRole("textbox", { name: "Result" }).fill("12");
    await page.getByRole("button", { name: "Send the result" }).click();
    await page.getByText("So it is 12.").waitFor();
    expect(model.requests[3]?.messages.at(-1)).toMatchObject({ role: "tool", content: "12" });
    expect(problems).toEqual([]);
  });

  test("sends settings, tools, images and a schema", async () => {
    using model = scriptedModel(["Plain.", '{"sum":42}']);
    await using server = await startConsole({ models: { scripted: model }, tools: [add, double] });
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page, problems } = opened;
    await page.getByRole("button", { name: /^Tools 2/ }).click();
    await page.getByRole("checkbox", { name: /double/ }).uncheck();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("textbox", { name: "System prompt" }).fill("Be brief.");
    await page.getByRole("spinbutton", { name: "Temperature" }).fill("0.5");
    await page.getByRole("spinbutton", { name: "Most tokens" }).fill("100");
    await page.keyboard.press("Escape");
    await page
      .getByLabel("Image files")
      .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: png });
    await page.getByRole("img", { name: "Number 1" }).waitFor();
    await say(page, "What is this?");
    await page.getByText("Plain.").waitFor();
    const [first] = model.requests;
    expect(first?.tools?.map((it) => it.function.name)).toEqual(["add"]);
    expect(first?.settings).toMatchObject({ temperature: 0.5, maxTokens: 100 });
    expect(first?.messages[0]).toMatchObject({ role: "system", content: "Be brief." });
    expect(JSON.stringify(first?.messages[1]?.content)).toContain("data:image/png;base64,");
    await page.getByRole("img", { name: "Sent with the message" }).waitFor();

    await page.getByRole("button", { name: "Settings" }).click();
    expect(await axeProblems(page)).toEqual([]);
    const schema = page.getByRole("textbox", { name: "JSON schema of the answer" });
    await schema.fill("{");
    await page.getByText("This is not valid JSON").waitFor();
    await schema.fill('{ "type": "object", "properties": { "sum": { "type": "number" } } }');
    await page.keyboard.press("Escape");
    await say(page, "As JSON.");
    await expect.poll(() => page.locator(".markdown pre").textContent()).toContain('{"sum":42}');
    expect(problems).toEqual([]);
  });
});
