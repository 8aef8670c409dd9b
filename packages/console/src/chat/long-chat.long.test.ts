// A chat that is longer than what the page loads of it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "rondo/testing";
import { afterAll, describe, expect, test } from "vitest";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { copyChain } from "../testkit/many-runs.ts";
import { openModule } from "../testkit/page-module.ts";
import { respond } from "../testkit/pages.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";
import type { Thread } from "./thread.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-long-chat-"));

describe.skipIf(browserPath === undefined)(`a very long chat${skipReason}`, { timeout: 90_000 }, () => {
  const browser = sharedBrowser();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("opens at its newest response, and goes on after it", async () => {
    using model = scriptedModel(["The first.", "The last.", "Gladly."]);
    const store = `sqlite:${join(folder, "chat.db")}` as const;
    const models = { demo: model };
    let root: string;
    {
      await using first = await startConsole({ store, models });
      root = await respond(first.url, { input: "Hello", metadata: { source: "console" } });
    }
    copyChain(join(folder, "chat.db"), 1_001);
    await using server = await startConsole({ store, models });
    const newest = await respond(server.url, {
      input: "And now?",
      metadata: { source: "console" },
      previous_response_id: "resp_chain00001001",
    });
    await using opened = await openConsole(browser, server.url, `#/chat/${root}`);
    const { page, problems } = opened;
    page.setDefaultTimeout(60_000); // the page has much to draw
    await page.getByText("The last.").waitFor();
    await page.getByText("Only the newest 1,000 responses of this chat are shown.").waitFor();

    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("textbox", { name: "Write a message" }).fill("Go on.");
    await page.keyboard.press("Enter");
    expect((await sent).postDataJSON()).toMatchObject({ previous_response_id: newest });
    await page.getByText("Gladly.").waitFor();
    expect(problems).toEqual([]);
  });

  test("is loaded from its newest run, also as a branch, and deleted as a whole", async () => {
    using model = scriptedModel(Array.from({ length: 8 }, () => "Yes."));
    await using server = await startConsole({ models: { demo: model } });
    const chain = async (source: string, length: number) => {
      const ids: string[] = [];
      for (let n = 0; n < length; n += 1) {
        const metadata = { source: n === 0 ? source : "console" };
        const previous = n === 0 ? null : ids.at(-1);
        ids.push(await respond(server.url, { input: "?", metadata, previous_response_id: previous }));
      }
      return ids;
    };
    const [root = "", ...others] = await chain("console", 5);
    const branch = await chain(`console/${root}`, 3);
    await using opened = await openModule(browser, "chat/thread.ts", `${server.url}/healthz`);
    const { page } = opened;
    const load = (id: string, max: number): Promise<Thread> =>
      page.evaluate(`tested.loadThread("${id}", new AbortController().signal, ${max})`);
    const idsOf = ({ runs }: Thread) => runs.map(({ id }) => id).toSorted();
    const newest = await load(root, 2);
    expect(newest).toMatchObject({ root, hasOlder: true });
    // The first of a branch is always there: it is how the branch is found.
    expect(idsOf(newest)).toEqual([...others.slice(-2), ...branch].toSorted());
    expect(await load(branch[0] ?? "", 2)).toMatchObject({ root, hasOlder: true });
    const whole = await load(root, 5);
    expect(whole.hasOlder).toBe(false);
    expect(idsOf(whole)).toEqual([root, ...others, ...branch].toSorted());

    await page.evaluate(`tested.deleteThread("${root}", 2)`);
    const kept = (await (await fetch(`${server.url}/v1/runs`)).json()) as { data: unknown[] };
    expect(kept.data).toEqual([]);
  });
});
