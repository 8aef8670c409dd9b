// What tests of all pages share: where the pages are, and a server on which each has something to show.

import type { ConfigInput, RunningServer } from "@rondo/server";
import type { Page } from "playwright-core";
import { tool } from "rondo";
import { demoModel } from "rondo/demo";
import { openRequests, waitForReplies } from "./browser.ts";
import { startConsole } from "./console-server.ts";

const add = tool(
  { name: "add", description: "Add two numbers.", input: { a: Number, b: Number }, registry: false },
  async ({ a, b }) => a + b,
);

export async function startFullConsole(config: ConfigInput = {}): Promise<RunningServer> {
  return startConsole({ tools: [add], models: { demo: demoModel() }, sandbox: { kind: "none" }, ...config });
}

/** Makes a response, and gives its id. */
export async function respond(url: string, body: object, key?: string): Promise<string> {
  const reply = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model: "demo", ...body }),
  });
  return ((await reply.json()) as { id: string }).id;
}

/** All pages by name, with a run and its chat. */
export function placesWith(id: string): readonly (readonly [name: string, place: string])[] {
  return [
    ["home", "#/"],
    ["chat", "#/chat"],
    ["a-chat", `#/chat/${id}`],
    ["runs", "#/runs"],
    ["run", `#/runs/${id}`],
    ["tools", "#/tools/add"],
    ["models", "#/models/demo"],
    ["system", "#/system"],
    ["reference", "#/reference/createResponse"],
    ["no-page", "#/nowhere"],
  ];
}

/** Goes to a place, and waits until the page has loaded what it shows. */
export async function visit(page: Page, place: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, place);
  await page.locator("main h1, main h2, main textarea, main .notice").first().waitFor();
  // No request of it is under way, and none followed the last one.
  for (let isQuiet = false; !isQuiet; ) {
    await waitForReplies(page);
    await page.waitForFunction(() => document.querySelector("main .spinner") === null);
    isQuiet = openRequests(page) === 0;
  }
}
