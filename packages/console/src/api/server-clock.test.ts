import { scriptedModel } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { browserPath, openConsole, skipReason } from "../testkit/browser.ts";
import { startConsole } from "../testkit/console-server.ts";
import { respond } from "../testkit/pages.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";
import { noteDate, serverNow } from "./server-clock.ts";

const hourMs = 3_600_000;

test("the server's time is estimated from its replies", () => {
  const startMs = Date.UTC(2030, 0, 1);
  vi.useFakeTimers({ now: startMs, toFake: ["Date"] });
  try {
    const offset = () => Date.now() - serverNow();
    /** A reply `afterMs` after the start, by a browser that is `aheadMs` ahead. */
    const note = (afterMs: number, aheadMs: number, takesMs = 20) => {
      const date = new Date(startMs + afterMs).toUTCString(); // in whole seconds
      noteDate(date, startMs + afterMs + aheadMs - takesMs, startMs + afterMs + aheadMs);
    };
    expect(offset()).toBe(0);
    noteDate(null, startMs, startMs);
    noteDate("soon", startMs, startMs);
    expect(offset()).toBe(0);
    // Slow replies and the header's whole seconds are no difference of the clocks.
    for (const afterMs of [0, 1_400, 2_999]) note(afterMs, 0, 3_000);
    expect(offset()).toBe(0);
    note(4_000, 1_000);
    expect(offset()).toBe(0);
    // More replies make it more exact. A slow one does not make it worse.
    for (const afterMs of [5_000, 6_300, 7_600, 8_990]) note(afterMs, hourMs);
    note(10_000, hourMs, 9_000);
    expect(Math.abs(offset() - hourMs)).toBeLessThan(200);
    // A clock was set.
    note(11_000, -hourMs);
    expect(Math.abs(offset() + hourMs)).toBeLessThan(600);
    note(12_000, 0);
    expect(offset()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

describe.skipIf(browserPath === undefined)(`a browser whose clock is an hour ahead${skipReason}`, () => {
  const browser = sharedBrowser();

  test("shows how long a run has taken by the server's clock, and finds it by its time", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Once upon", gate.promise, " a time."] }]);
    await using server = await startConsole({ models: { demo: model } });
    await using opened = await openConsole(browser, server.url);
    const { page } = opened;
    await page.addInitScript((ms) => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + ms;
    }, hourMs);
    const id = await respond(server.url, { input: "A story", background: true });
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/runs/${id}`);
    const axis = page.locator(".waterfall");
    await axis.waitFor();
    await expect.poll(() => page.locator(".run-facts").innerText()).toMatch(/\d\.\d s/);
    expect(await axis.innerText()).not.toMatch(/\d (?:h|min)\b/);
    gate.resolve();
    await page.getByText("Completed").first().waitFor();
    await page.goto(`${server.url}/#/runs?since=15m`);
    await page.getByRole("grid").getByText("A story").waitFor();
  });
});
