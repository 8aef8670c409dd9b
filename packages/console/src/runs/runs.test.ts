// The list of runs and the page of a run in a real browser, against a real server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openaiCompatible, tool } from "rondo";
import { scriptedModel, startModelServer } from "rondo/testing";
import { afterAll, describe, expect, test } from "vitest";
import { startNotebook } from "../../../server/src/executor/mcp/testkit/notebook-server.ts";
import { axeProblems } from "../testkit/axe.ts";
import { browserPath, openConsole, skipReason, takeScreenshot } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { addItems, copyRuns } from "../testkit/many-runs.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

const runCount = 100_000;
const folder = mkdtempSync(join(tmpdir(), "rondo-runs-"));
const hostile = `<img src=x onerror="document.title='x'"><script>alert(1)</script> "quoted" 'text' & \${x}`;

interface Created {
  readonly id: string;
  readonly status: string;
}

async function create(url: string, body: object): Promise<Created> {
  const reply = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "demo", ...body }),
  });
  return (await reply.json()) as Created;
}

const weather = tool(
  { name: "weather", description: "The weather.", input: { city: String }, registry: false },
  async ({ city }) => {
    if (city === "Nowhere") throw new Error("There is no such city.");
    return `${city}: 12 °C ${hostile}`;
  },
);

describe.skipIf(browserPath === undefined)(`runs${skipReason}`, { timeout: 90_000 }, () => {
  const browser = sharedBrowser();
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
  });

  test("are listed live, found by filters and search, and reached at both ends", async () => {
    const file = join(folder, "runs.db");
    {
      await using first = await startConsole({ store: `sqlite:${file}` });
      await create(first.url, { input: "Hello, who are you?", metadata: { source: "tests" } });
    }
    copyRuns(file, runCount);
    await using server = await startConsole({ store: `sqlite:${file}` });
    await using opened = await openConsole(browser, server.url, "#/runs");
    const { page, problems } = opened;
    const grid = page.getByRole("grid", { name: "Runs" });
    const rows = grid.getByRole("row");
    const active = grid.locator("[aria-selected=true]");
    await rows.filter({ hasText: "part 1 of" }).waitFor();
    expect(await rows.count()).toBeLessThan(60);
    expect(await axeProblems(page)).toEqual([]);
    await takeScreenshot(page, "runs-light-1280");

    // A new run comes in at the top, and what was there moves only if nobody points at it.
    await create(server.url, { input: hostile, background: true });
    await rows.nth(1).filter({ hasText: "<img src=x" }).waitFor();
    await rows.nth(1).filter({ hasText: "Completed" }).waitFor();

    // Keys, and back to the same place.
    await grid.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("PageDown");
    await page.keyboard.press("PageDown");
    const chosen = await active.getByRole("link").textContent();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: chosen ?? "" }).waitFor();
    await page.goBack();
    await active.filter({ hasText: chosen ?? "" }).waitFor();
    expect(await grid.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);

    // The oldest, upwards from there, and reloaded there.
    await page.getByRole("button", { name: "Oldest" }).click();
    await rows.filter({ hasText: `part ${runCount} of` }).waitFor();
    await grid.evaluate((element) => element.scrollTo(0, 0));
    await rows
      .filter({ hasText: /part 998[0-9]{2} of/ })
      .first()
      .waitFor();
    await page.waitForURL(/at=resp_copy00099\d{3}/);
    await page.reload();
    await rows
      .filter({ hasText: /part 99[0-9]{3} of/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Newest" }).click();
    await rows.filter({ hasText: "Hello, who are you?" }).waitFor();

    // Filters stand in the address.
    await page.getByRole("combobox", { name: "Status" }).selectOption("failed");
    await rows.filter({ hasText: "part 97 of" }).waitFor();
    await page.waitForURL(/status=failed/);
    expect(await rows.filter({ hasText: "Completed" }).count()).toBe(0);
    await page.getByRole("combobox", { name: "Status" }).selectOption("");
    const search = page.getByRole("searchbox", { name: "Search titles and ids" });
    await search.fill("TRANSLATE, part 99997 ");
    await rows.filter({ hasText: "part 99997 of" }).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await search.fill("no such run");
    await page.getByText("No run matches these filters.").waitFor();
    await page.getByRole("link", { name: "Show all runs" }).click();
    await rows.filter({ hasText: "part 1 of" }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await takeScreenshot(page, "runs-light-360");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(problems).toEqual([]);
  });

  test("of 5,000 items are scrolled through without a gap, with few rows in the page", async () => {
    const file = join(folder, "items.db");
    {
      await using first = await startConsole({ store: `sqlite:${file}` });
      await create(first.url, { input: "Read all pages." });
    }
    const id = addItems(file, 5_000);
    await using server = await startConsole({ store: `sqlite:${file}` });
    await using opened = await openConsole(browser, server.url, `#/runs/${id}`);
    const { page, problems } = opened;
    await page.getByText("Item 0.").waitFor();
    const seen = await page.evaluate(async () => {
      const list = document.querySelector<HTMLElement>(".item-rows");
      const drawn = () => {
        const rows = [...(list?.querySelectorAll(":scope > * > .virtual-list-row") ?? [])];
        return rows.map((row) => row.getBoundingClientRect()).toSorted((a, b) => a.top - b.top);
      };
      let most = 0;
      const gaps: number[] = [];
      for (const step of [...Array<number>(12).fill(100), ...Array<number>(15).fill(2_000)]) {
        list?.scrollBy(0, step);
        // Drawn in this frame or in the next.
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        const rows = drawn();
        const { top = 0, bottom = 0 } = list?.getBoundingClientRect() ?? {};
        most = Math.max(most, rows.length);
        const covered = (rows[0]?.top ?? Infinity) <= top + 1 && (rows.at(-1)?.bottom ?? 0) >= bottom - 1;
        const isWhole = rows.every(
          (row, index) => index === 0 || Math.abs(row.top - (rows[index - 1]?.bottom ?? 0)) < 1,
        );
        if (!covered || !isWhole) gaps.push(list?.scrollTop ?? 0);
      }
      return { most, gaps };
    });
    expect(seen.gaps).toEqual([]);
    expect(seen.most).toBeLessThan(60);
    const items = page.getByRole("grid", { name: "Items" });
    await items.focus();
    await page.keyboard.press("End");
    await items.getByText("Page 4999:").waitFor();
    expect(problems).toEqual([]);
  });

  test("show what happened: lanes, items, rounds, requests and chunks, and code to copy", async () => {
    await using models = await startModelServer(
      [
        {
          thinking: hostile,
          text: hostile,
          calls: [
            { name: "weather", arguments: "{'city': 'Berlin',}" },
            { name: "weather", input: { city: "Nowhere" } },
            { name: hostile, arguments: hostile },
          ],
        },
        { text: ["Take an ", "umbrella."] },
        { status: 500, body: { error: { message: "out of memory" } } },
      ],
      { countsPrompts: true },
    );
    const model = openaiCompatible({ baseURL: models.url, model: "test-model", retry: false });
    await using server = await startConsole({
      models: { demo: model },
      tools: [weather],
      traces: "full",
    });
    const run = await create(server.url, { input: hostile, metadata: { source: "tests" } });
    await using opened = await openConsole(browser, server.url, `#/runs/${run.id}`);
    const { page, problems } = opened;
    const lanes = page.getByRole("grid", { name: "Timeline" });
    const items = page.getByRole("grid", { name: "Items" });
    await lanes.getByRole("row").filter({ hasText: "Answer 2" }).waitFor();
    expect(await lanes.locator(".lane-label > .one-line").allTextContents()).toEqual([
      "Store",
      "Answer 1",
      "weather",
      "weather",
      "Answer 2",
    ]);
    await items.getByText("Take an umbrella.").waitFor();
    await takeScreenshot(page, "run-light-1280");

    // A bar selects its item, and an item its bar; both are in the address.
    await lanes
      .getByRole("row")
      .filter({ hasText: /^weather/ })
      .nth(1)
      .click();
    await items.locator("[aria-selected=true]", { hasText: "There is no such city." }).waitFor();
    await page.getByRole("region", { name: "Details of weather" }).waitFor();
    await items.getByText("Take an umbrella.").click();
    await lanes.locator("[aria-selected=true]", { hasText: "Answer 2" }).waitFor();
    await page.reload();
    await lanes.locator("[aria-selected=true]", { hasText: "Answer 2" }).waitFor();
    const details = page.getByRole("region", { name: "Details of Answer 2" });
    await details
      .getByText(/tokens of context/)
      .first()
      .waitFor();

    // What had to be guessed is marked.
    await items.getByText(/Doubtful: repaired/).waitFor();
    expect(await lanes.locator(".lane-doubt").count()).toBe(2);

    // Zoom by keys.
    await lanes.focus();
    await page.keyboard.press("+");
    await page.getByRole("button", { name: "Show all" }).click();

    await page.getByRole("tab", { name: "Rounds" }).click();
    await page.getByRole("grid", { name: "Rounds" }).getByText("3 calls").waitFor();
    await page.getByRole("tab", { name: "Requests and chunks" }).click();
    await page.getByRole("group", { name: "Request body" }).getByText('"role": "user"').waitFor();
    await page.getByRole("combobox", { name: "Answer" }).selectOption("1");
    await page.getByRole("group", { name: "Raw chunks" }).getByText("umbrella").waitFor();
    expect(await axeProblems(page)).toEqual([]);

    await page.getByRole("button", { name: "Copy as code" }).click();
    const dialog = page.getByRole("dialog", { name: "Copy as code" });
    await dialog.getByText("curl http").waitFor();
    await dialog.getByRole("tab", { name: "Test" }).click();
    await dialog.getByText("scriptedModel(answers)").waitFor();
    await page.keyboard.press("Escape");

    // A message can be edited: the chat goes on from there in a branch.
    await items.getByRole("link", { name: "Edit and branch" }).click();
    await expect.poll(() => page.getByRole("textbox").first().inputValue()).toBe(hostile);

    // One that failed says what to do; its thread leads back; and it can be deleted.
    const failed = await create(server.url, {
      input: "And now?",
      previous_response_id: run.id,
      background: true,
    });
    await page.goto(`${server.url}/#/runs/${failed.id}`);
    await page.getByRole("alert").getByText("Read the model server's log").waitFor();
    await page.getByRole("navigation", { name: "The thread" }).getByRole("link", { name: /^←/ }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("grid", { name: "Runs" }).waitFor();
    expect((await fetch(`${server.url}/v1/responses/${failed.id}`)).status).toBe(404);
    expect(await page.title()).toBe("Runs – Rondo");
    expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  });

  test("are followed while they run, cancelled, and continued by an approval", async () => {
    const notebook = await startNotebook();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    using model = scriptedModel([
      { text: ["The beginning", released, " and the end."] },
      { text: ["Never", new Promise(() => {})] },
      { calls: [{ name: "pay", input: { n: 7 } }] },
      "Paid.",
    ]);
    await using server = await startConsole({
      models: { demo: model },
      mcp: { servers: { notes: { url: notebook.url, requireApproval: ["pay"] } } },
    });
    const { id } = await create(server.url, { input: "Tell me a story.", background: true });
    await using opened = await openConsole(browser, server.url, `#/runs/${id}`, { colorScheme: "dark" });
    const { page, problems } = opened;
    const items = page.getByRole("grid", { name: "Items" });
    await items.getByText("The beginning").waitFor();
    await page.getByRole("tab", { name: "Requests and chunks" }).click();
    await page.getByText("traces: full").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.locator(".bar.generation.open").waitFor();
    release();
    await items.getByText("The beginning and the end.").waitFor();
    await page.getByText("Completed", { exact: true }).waitFor();
    await expect.poll(() => page.locator(".bar.open").count()).toBe(0);

    const endless = await create(server.url, { input: "On and on.", background: true });
    await page.goto(`${server.url}/#/runs/${endless.id}`);
    await items.getByText("Never").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();

    const asking = await create(server.url, { input: "Pay 7." });
    await page.goto(`${server.url}/#/runs/${asking.id}`);
    await page.getByText("The model wants to call").waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await takeScreenshot(page, "run-approval-dark-1280");
    await page.getByRole("button", { name: "Approve" }).click();
    await items.getByText("Paid.").waitFor();
    expect(notebook.calls).toEqual(['pay({"n":7})']);
    await page.getByRole("navigation", { name: "The thread" }).getByRole("link", { name: /^←/ }).click();
    await page.getByText("was answered in").waitFor();
    expect(problems).toEqual([]);
  });

  test.each([360, 1280])("with words without an end fit into %d pixels", async (width) => {
    const word = "w".repeat(200);
    using model = scriptedModel([{ calls: [{ name: `${word}.add`, input: {} }] }, word]);
    await using server = await startConsole({ models: { demo: model }, tools: [weather] });
    const { id } = await create(server.url, { input: word, metadata: { source: word } });
    const viewport = { width, height: 740 };
    await using opened = await openConsole(browser, server.url, `#/runs/${id}`, { viewport });
    const { page, problems } = opened;
    await page.getByRole("list", { name: "Remarkable" }).getByText("Call of").waitFor();
    await page.getByRole("listitem").filter({ hasText: word }).first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(problems).toEqual([]);
  });

  test("go on after the server was away, and show that another process resumed them", async () => {
    const store = `sqlite:${join(folder, "resumed.db")}`;
    const endless = scriptedModel({ text: ["Before", new Promise(() => {})] });
    const first = await startConsole({ store, shutdownMs: 100, models: { demo: endless } });
    const { id } = await create(first.url, { input: "Tell me a story.", background: true });
    await using opened = await openConsole(browser, first.url, `#/runs/${id}`);
    const { page } = opened;
    const items = page.getByRole("grid", { name: "Items" });
    await items.getByText("Before", { exact: true }).waitFor();
    await first.close();
    await page.getByText("The server does not answer").waitFor();

    using model = scriptedModel(["After."]);
    const port = Number(new URL(first.url).port);
    await using second = await startConsole({ port, store, models: { demo: model } });
    expect(second.url).toBe(first.url);
    await items.getByText("After.", { exact: true }).waitFor();
    await page.getByText("Completed", { exact: true }).waitFor();
    await page.getByRole("list", { name: "Remarkable" }).getByText("Resumed by another process").waitFor();
  });
});
