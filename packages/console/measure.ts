// Measures the pages of runs in a real browser: a list of 100,000 runs, and a run of 5,000 items. Prints what it took.
//
//   node --conditions=rondo-source packages/console/measure.ts
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { openConsole, startBrowser } from "./src/testkit/browser.ts";
import { startConsole } from "./src/testkit/console-server.ts";
import { addItems, copyRuns } from "./src/testkit/many-runs.ts";

const runCount = 100_000;
const itemCount = 5_000;
const scrollMs = 5_000;
const cache = fileURLToPath(new URL("../../.cache/", import.meta.url));
const runsFile = join(cache, `runs-${runCount}.db`);
const itemsFile = join(cache, `items-${itemCount}.db`);

async function seed(): Promise<void> {
  if (existsSync(runsFile)) return;
  mkdirSync(cache, { recursive: true });
  {
    await using server = await startConsole({ store: `sqlite:${runsFile}` });
    const body = JSON.stringify({ model: "demo", input: "Hello, who are you?" });
    const headers = { "content-type": "application/json" };
    await (await fetch(`${server.url}/v1/responses`, { method: "POST", headers, body })).text();
  }
  copyRuns(runsFile, runCount);
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await work();
  console.log(`${name}: ${Math.round(performance.now() - from)} ms`);
}

/** Scrolls a list a bit in each frame. A frame is dropped if the next one comes after more than 25 ms. */
async function scroll(page: Page, name: string, selector: string, pixels: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const spent = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const of = (metric: string) => metrics.find((each) => each.name === metric)?.value ?? 0;
    return { script: of("ScriptDuration") * 1_000, layout: of("LayoutDuration") * 1_000 };
  };
  const before = await spent();
  const gaps = await page.evaluate(
    async ({ selector: list, pixels: step, ms }) => {
      const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
      const element = document.querySelector(list);
      const times = [await nextFrame()];
      const end = performance.now() + ms;
      while (performance.now() < end) {
        element?.scrollBy(0, step);
        times.push(await nextFrame());
      }
      return times.slice(1).map((time, index) => time - (times[index] ?? time));
    },
    { selector, pixels, ms: scrollMs },
  );
  const after = await spent();
  const each = (ms: number) => `${(ms / gaps.length).toFixed(2)} ms`;
  console.log(
    `${name}: ${gaps.length} frames, ${gaps.filter((gap) => gap > 25).length} dropped; per frame ${each(after.script - before.script)} script, ${each(after.layout - before.layout)} layout`,
  );
}

await seed();
const browser = await startBrowser();
try {
  {
    await using server = await startConsole({ store: `sqlite:${runsFile}` });
    await using opened = await openConsole(browser, server.url);
    const { page } = opened;
    await page.getByRole("heading", { level: 1 }).waitFor();
    const rows = page.getByRole("grid", { name: "Runs" }).getByRole("row");
    const search = page.getByRole("searchbox", { name: "Search titles and ids" });
    const shows = (text: string) => rows.filter({ hasText: text }).waitFor();
    await timed("first rows", async () => {
      await page.goto(`${server.url}/#/runs`);
      await shows("part 1 of");
    });
    await timed("the oldest runs", async () => {
      await page.getByRole("button", { name: "Oldest" }).click();
      await shows(`part ${runCount} of`);
    });
    await timed("search for a new run, with 250 ms for typing", async () => {
      await search.fill("translate, part 4 ");
      await shows("part 4 of");
    });
    await timed("search for the oldest run, with 250 ms for typing", async () => {
      await search.fill(`part ${runCount} `);
      await shows(`part ${runCount} of`);
    });
    await search.fill("");
    await shows("part 1 of");
    await scroll(page, "scrolling runs", ".run-rows", 120);
  }
  copyFileSync(runsFile, itemsFile);
  const id = addItems(itemsFile, itemCount);
  await using server = await startConsole({ store: `sqlite:${itemsFile}` });
  await using opened = await openConsole(browser, server.url);
  const { page } = opened;
  await timed(`first of ${itemCount} items`, async () => {
    await page.goto(`${server.url}/#/runs/${id}`);
    await page.getByText("Item 0.").waitFor();
  });
  // How many frames the machine drops by itself.
  await scroll(page, "no scrolling", ".item-rows", 0);
  await scroll(page, "scrolling items", ".item-rows", 100);
  await scroll(page, "scrolling items fast", ".item-rows", 2_000);
  await scroll(page, "scrolling lanes", ".waterfall", 60);
} finally {
  await browser.close();
}
