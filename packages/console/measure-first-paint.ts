// Measures how long a browser that was never here takes to paint the home page, from loopback. Prints the median.
//
//   node --conditions=rondo-source packages/console/measure-first-paint.ts
import { openConsole, startBrowser } from "./src/testkit/browser.ts";
import { startConsole } from "./src/testkit/console-server.ts";

const times = 7;

await using server = await startConsole();
const browser = await startBrowser();
try {
  const paints: number[] = [];
  const contents: number[] = [];
  for (let count = 0; count < times; count += 1) {
    // A new context has an empty cache.
    await using opened = await openConsole(browser, server.url);
    await opened.page.getByRole("heading", { level: 1 }).waitFor();
    const paint = await opened.page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    );
    const content = await opened.page.evaluate(() => performance.now());
    // The first one also warms up the browser and the server.
    if (count === 0) continue;
    paints.push(paint);
    contents.push(content);
  }
  console.log(`first paint: ${median(paints)} ms; the home page's content: at most ${median(contents)} ms`);
} finally {
  await browser.close();
}

function median(values: readonly number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);
}
