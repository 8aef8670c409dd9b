// How often a text that grows is rendered.
import { describe, expect, test } from "vitest";
import { browserPath, skipReason } from "../../testkit/browser.ts";
import { openModule } from "../../testkit/page-module.ts";
import { sharedBrowser } from "../../testkit/shared-browser.ts";
import type { paced } from "./pace.ts";

declare const tested: { paced: typeof paced };

describe.skipIf(browserPath === undefined)(`the pace of rendering${skipReason}`, () => {
  const browser = sharedBrowser();

  test("is seldom for what comes faster than anybody reads, and nothing stays unshown", async () => {
    await using opened = await openModule(browser, "ui/markdown/pace.ts");
    const { page } = opened;
    // The page's time stands still but for what runs here: on a busy machine, a real second has fewer frames.
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(60_000);
    const rendersOf = async (charsEach: number) => {
      const growing = await page.evaluateHandle((chars) => {
        const text = { length: 0, renders: 0, rendered: 0, timer: 0 };
        const pace = tested.paced(() => {
          text.renders += 1;
          text.rendered = text.length;
          return true;
        });
        text.timer = window.setInterval(() => {
          text.length += chars;
          pace.request(text.length);
        }, 10);
        return text;
      }, charsEach);
      await page.clock.runFor(600);
      const { renders } = await growing.jsonValue();
      await growing.evaluate(({ timer }) => clearInterval(timer));
      await page.clock.runFor(200);
      const { length, rendered } = await growing.jsonValue();
      expect(rendered).toBe(length);
      return renders;
    };
    // In 600 ms: one in 100 ms, or in 180, and each waits for a frame.
    expect(await rendersOf(1)).toBe(6);
    expect(await rendersOf(20)).toBe(4);
  });
});
