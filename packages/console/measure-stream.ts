// Measures what a stream costs the browser: how much of a core it takes to show 200 tokens a second for some seconds, in
// all of its processes but the one that only has the window. Chromium renders without a GPU here.
// `node --conditions=rondo-source packages/console/measure-stream.ts`

import { scriptedModel } from "rondo/testing";
import { openConsole, startBrowser } from "./src/testkit/browser.ts";
import { startConsole } from "./src/testkit/console-server.ts";

const tokensPerSecond = 200;
const seconds = 12;
/** From here on it is measured: what was loaded for the first text is not part of it. */
const fromSecond = 2;
const measuredSeconds = 8;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** Texts as models write them: paragraphs, lists, tables and code. */
const kinds: Readonly<Record<string, (token: number) => string>> = {
  text: (token) => (token % 60 === 59 ? "\n\n" : token % 7 === 6 ? "**word** " : "word "),
  list: (token) => (token % 12 === 11 ? "\n- " : "item "),
  code: (token) => (token === 0 ? "```js\n" : token % 8 === 7 ? ";\n" : "code() "),
  table: (token) =>
    token === 0 ? "| a | b |\n|---|---|\n|" : token % 6 === 5 ? "|\n|" : token % 6 === 2 ? "| " : " x",
};

for (const [kind, tokenAt] of Object.entries(kinds)) {
  const total = tokensPerSecond * seconds;
  const startedAt = Promise.withResolvers<number>();
  const pieces = Array.from({ length: total }, (_, token) => [
    startedAt.promise.then((start) => sleep(start + (token * 1_000) / tokensPerSecond - performance.now())),
    tokenAt(token),
  ]).flat();
  using model = scriptedModel([{ text: pieces }]);
  await using server = await startConsole({ models: { scripted: model } });
  const browser = await startBrowser();
  try {
    await using opened = await openConsole(browser, server.url, "#/chat");
    const { page } = opened;
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.getByRole("textbox", { name: "Write a message" }).fill("Go");
    await page.keyboard.press("Enter");
    await model.request(0);
    startedAt.resolve(performance.now());
    await sleep(fromSecond * 1_000);
    const read = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
      const get = (name: string) => metrics.find((it) => it.name === name)?.value ?? 0;
      const cpuOf = (isWanted: (type: string) => boolean) =>
        processInfo.filter(({ type }) => isWanted(type)).reduce((sum, it) => sum + it.cpuTime, 0);
      return {
        at: performance.now(),
        tasks: get("TaskDuration"),
        script: get("ScriptDuration"),
        layout: get("LayoutDuration") + get("RecalcStyleDuration"),
        renderer: cpuOf((type) => type === "renderer"),
        drawing: cpuOf((type) => type === "GPU"),
        all: cpuOf((type) => type !== "browser"),
      };
    };
    const before = await read();
    await sleep(measuredSeconds * 1_000);
    const after = await read();
    const share = (name: Exclude<keyof typeof before, "at">) =>
      `${(((after[name] - before[name]) * 100_000) / (after.at - before.at)).toFixed(1)} %`;
    console.log(
      `${kind}: ${share("all")} of a core: renderer ${share("renderer")} (main thread ${share("tasks")}, script ${share("script")}, layout ${share("layout")}), drawing ${share("drawing")}`,
    );
  } finally {
    await browser.close();
  }
}
