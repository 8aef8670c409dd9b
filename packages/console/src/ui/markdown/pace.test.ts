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
    const rendersOf = (charsEach: number) =>
      opened.page.evaluate(async (chars) => {
        let length = 0;
        let isOver = false;
        let renders = 0;
        const isShown = Promise.withResolvers<void>();
        const pace = tested.paced(() => {
          renders += 1;
          if (isOver) isShown.resolve();
          return true;
        });
        const until = performance.now() + 600;
        while (performance.now() < until) {
          length += chars;
          pace.request(length);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        isOver = true;
        pace.request(length + chars);
        await isShown.promise;
        return renders;
      }, charsEach);
    const [slow, fast] = [await rendersOf(1), await rendersOf(20)];
    expect(fast).toBeLessThanOrEqual(5);
    expect(fast).toBeGreaterThan(1);
    expect(slow).toBeLessThanOrEqual(8);
    expect(slow).toBeGreaterThan(fast);
  });
});
