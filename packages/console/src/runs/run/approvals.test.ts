// Decisions about calls that wait for a person, in several tabs of a real browser.
import type { RunningServer } from "@rondo/server";
import type { Page } from "playwright-core";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { startNotebook } from "../../../../server/src/executor/mcp/testkit/notebook-server.ts";
import { browserPath, openConsole, skipReason } from "../../testkit/browser.ts";
import { startConsole } from "../../testkit/console-server.ts";
import { sharedBrowser } from "../../testkit/shared-browser.ts";

const asks = { calls: [{ name: "pay", input: { n: 7 } }] };

async function start(script: Parameters<typeof scriptedModel>[0]) {
  const notebook = await startNotebook();
  const server = await startConsole({
    models: { demo: scriptedModel(script) },
    mcp: { servers: { notes: { url: notebook.url, requireApproval: ["pay"] } } },
  });
  return { notebook, server };
}

async function send<T>({ url }: RunningServer, path: string, body: object): Promise<T> {
  const reply = await fetch(`${url}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await reply.json()) as T;
}

const respond = (server: RunningServer, body: object) =>
  send<{ id: string }>(server, "responses", { model: "demo", ...body });

const approve = (page: Page) => page.getByRole("button", { name: "Approve" });
const deny = (page: Page) => page.getByRole("button", { name: "Deny" });

/** The page does not learn of later runs. */
async function hideThread(page: Page): Promise<void> {
  await approve(page).waitFor();
  await page.route("**/v1/runs?**", (route) => route.fulfill({ status: 500 }));
}

describe.skipIf(browserPath === undefined)(`approvals${skipReason}`, { timeout: 60_000 }, () => {
  const browser = sharedBrowser();
  const open = async ({ url }: RunningServer, place: string) => openConsole(browser, url, place);

  test("are decided once, also in several tabs and in the chat", async () => {
    const { notebook, server: started } = await start([asks, "Paid."]);
    await using server = started;
    const { id } = await respond(server, { input: "Pay 7." });
    await using first = await open(server, `#/runs/${id}`);
    await using same = await open(server, `#/runs/${id}`);
    await using other = await open(server, `#/runs/${id}`);
    await using looking = await open(server, `#/runs/${id}`);
    await using shown = await open(server, `#/runs/${id}`);
    await using chat = await open(server, `#/chat/${id}`);
    for (const { page } of [first, same, other, looking, shown, chat]) await approve(page).waitFor();
    await hideThread(same.page);
    await hideThread(other.page);

    await approve(first.page).click();
    await first.page.getByText("Paid.").waitFor();

    // The same decision leads to the run that it made.
    await approve(same.page).click();
    await expect.poll(() => same.page.url()).toBe(first.page.url());

    await deny(other.page).click();
    await other.page.getByText("It was decided before").waitFor();
    await other.page.unroute("**/v1/runs?**");
    await deny(other.page).click();
    await other.page.getByText("was answered in").waitFor();

    await approve(looking.page).click();
    await looking.page.getByText("Your decision came later and was not used").waitFor();
    expect(looking.problems).toEqual([]);

    await shown.page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await shown.page.getByText("was answered in").waitFor();
    expect(await approve(shown.page).count()).toBe(0);

    await approve(chat.page).click();
    await chat.page.getByText("This was decided before").waitFor();
    await chat.page.getByRole("button", { name: "Try again" }).first().click();
    await chat.page.getByText("This was decided before").waitFor();

    expect(notebook.calls).toEqual(['pay({"n":7})']);
  });

  test("that the chat sends are the same request in two tabs, and a new one as a branch", async () => {
    const { notebook, server: started } = await start([asks, "Paid.", "Paid again."]);
    await using server = started;
    const { id } = await respond(server, { input: "Pay 7." });
    await using first = await open(server, `#/chat/${id}`);
    await using second = await open(server, `#/chat/${id}`);
    await using run = await open(server, `#/runs/${id}`);
    for (const { page } of [first, second, run]) await approve(page).waitFor();
    await hideThread(run.page);
    for (const { page } of [first, second]) {
      await approve(page).click();
      await page.getByText("Paid.").waitFor();
    }
    await approve(run.page).click();
    await run.page.getByText("It was decided before").waitFor();
    expect(notebook.calls).toHaveLength(1);

    await first.page.getByRole("button", { name: "Again", exact: true }).last().click();
    await first.page.getByText("Paid again.").waitFor();
    expect(notebook.calls).toHaveLength(2);
    expect(first.problems).toEqual([]);
  });

  test("are over in a conversation after the next run", async () => {
    const { notebook, server: started } = await start([asks, "Paid."]);
    await using server = started;
    const conversation = await send<{ id: string }>(server, "conversations", {});
    const { id } = await respond(server, { input: "Pay 7.", conversation: conversation.id });
    await using opened = await open(server, `#/runs/${id}`);
    const { page, problems } = opened;
    await approve(page).click();
    await page.getByText("Paid.").waitFor();
    await page.goto(`${server.url}/#/runs/${id}`);
    await page.getByText("was answered in").waitFor();
    expect(await approve(page).count()).toBe(0);
    expect(notebook.calls).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test.each(["a chain", "a conversation"])("that %s passed over are not called answered", async (kind) => {
    const { server: started } = await start([asks, "As you like."]);
    await using server = started;
    const { id: conversation } = await send<{ id: string }>(server, "conversations", {});
    const isChain = kind === "a chain";
    const { id } = await respond(server, { input: "Pay 7.", ...(!isChain && { conversation }) });
    await respond(server, {
      input: "No thanks.",
      ...(isChain ? { previous_response_id: id } : { conversation }),
    });
    await using opened = await open(server, `#/runs/${id}`);
    await opened.page.getByText("The thread went on without a decision").waitFor();
    expect(await approve(opened.page).count()).toBe(0);
    expect(opened.problems).toEqual([]);
  });
});
