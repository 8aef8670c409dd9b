// All pages in a real browser: for screen readers, narrow and wide, light and dark, and by the keyboard alone.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { axeProblems } from "../testkit/axe.ts";
import { browserPath, openConsole, skipReason, takeScreenshot } from "../testkit/browser.ts";
import { placesWith, respond, startFullConsole, visit } from "../testkit/pages.ts";
import { sharedBrowser } from "../testkit/shared-browser.ts";

// Each scheme and each width has its own problems, and they hardly ever meet.
const looks = [
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 360 },
] as const;
const input = "What is 25 + 17? Use the tool, please.";

describe.skipIf(browserPath === undefined)(`all pages${skipReason}`, () => {
  const browser = sharedBrowser();

  test("work for screen readers, at every width, light and dark", { timeout: 90_000 }, async () => {
    await using server = await startFullConsole();
    const id = await respond(server.url, { input, metadata: { source: "console" } });
    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    const found: string[] = [];
    for (const [name, place] of placesWith(id)) {
      for (const [index, { scheme, width }] of looks.entries()) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 800 });
        if (index === 0) await visit(page, place);
        await takeScreenshot(page, `${name}-${scheme}-${width}`);
        found.push(...(await axeProblems(page, index > 0)).map((line) => `${name} ${scheme}: ${line}`));
        found.push(...(await overflow(page)).map((line) => `${name} at ${width}: ${line}`));
      }
      await page.setViewportSize({ width: 2560, height: 1200 });
      found.push(...(await overflow(page)).map((line) => `${name} at 2560: ${line}`));
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("are reached and used by the keyboard alone, and the focus is always seen", {
    timeout: 60_000,
  }, async () => {
    await using server = await startFullConsole();
    const id = await respond(server.url, { input });
    await using opened = await openConsole(browser, server.url);
    const { page, problems } = opened;
    const found: string[] = [];
    for (const [name, place] of placesWith(id)) {
      if (name === "reference") continue; // a list of links, as on other pages, but long
      await visit(page, place);
      found.push(...(await walk(page)).map((line) => `${name}: ${line}`));
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("keep the place on reload and back", async () => {
    await using server = await startFullConsole();
    const id = await respond(server.url, { input });
    await using opened = await openConsole(browser, server.url, `#/runs/${id}`);
    const { page } = opened;
    const title = page.getByRole("heading", { level: 1 });
    // The title of the document follows the heading a moment later.
    const expectTitle = async (wanted: string) => {
      await expect.poll(() => page.title()).toBe(wanted);
    };
    await title.filter({ hasText: input }).waitFor();
    await expectTitle(`${input} – Runs – Rondo`);
    await page.getByRole("link", { name: "Models", exact: true }).click();
    await title.filter({ hasText: "Models" }).waitFor();
    await expectTitle("Models – Rondo");
    for (const [place, wanted] of [
      [`#/chat/${id}`, `${input} – Chat – Rondo`],
      ["#/tools/add", "add – Tools – Rondo"],
      ["#/models/demo", "demo – Models – Rondo"],
      ["#/reference/getTrace", "getTrace – API – Rondo"],
      ["#/models", "Models – Rondo"],
    ] as const) {
      await page.evaluate((hash) => {
        location.replace(hash);
      }, place);
      await expectTitle(wanted);
    }
    await page.goBack();
    await title.filter({ hasText: input }).waitFor();
    await page.reload();
    await title.filter({ hasText: input }).waitFor();
    await page.goForward();
    await title.filter({ hasText: "Models" }).waitFor();
    expect(await title.textContent()).toBe("Models");
  });
});

/** Whether the page scrolls sideways, and what is too wide. */
async function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll("main *")].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 1,
    );
    const names = wide.slice(0, 3).map((it) => `${it.tagName}.${it.className}`);
    return [`${scrollWidth} pixels; too wide: ${names.join(", ")}`];
  });
}

/** Presses Tab through the page: what is not reached, and where the focus is not seen. */
async function walk(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    getSelection()?.removeAllRanges();
    const wanted = [
      ...document.querySelectorAll<HTMLElement>(
        "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex='0']",
      ),
    ].filter((element) => element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true }));
    const left = new Set<Element>(wanted);
    const unseen: string[] = [];
    Object.assign(globalThis, { wanted: left, unseen });
    const onFocus = ({ target }: FocusEvent) => {
      const element = target as Element;
      left.delete(element);
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const frame = element.closest(":focus-within[class*=composer]");
      const isSeen = outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1;
      if (!isSeen && !frame) unseen.push(element.outerHTML.slice(0, 120));
    };
    const { watch } = globalThis as unknown as { watch?: typeof onFocus };
    if (watch) document.removeEventListener("focusin", watch);
    Object.assign(globalThis, { watch: onFocus });
    document.addEventListener("focusin", onFocus);
  });
  // It begins where the last click was, so it goes round twice at most.
  const countLeft = () =>
    page.evaluate(() => (globalThis as unknown as { wanted: Set<Element> }).wanted.size);
  const rounds = 2 * ((await countLeft()) + 2);
  for (let presses = 1; presses <= rounds; presses += 1) {
    await page.keyboard.press("Tab");
    if (presses % 8 === 0 && (await countLeft()) === 0) break;
  }
  return page.evaluate(() => {
    const { wanted, unseen } = globalThis as unknown as { wanted: Set<Element>; unseen: string[] };
    // What a page has taken away or disabled since it was opened need not be reached.
    const left = [...wanted].filter((element) => element.isConnected && !element.matches(":disabled"));
    return [
      ...left.map((element) => `not reached: ${element.outerHTML.slice(0, 120)}`),
      ...unseen.map((html) => `focus not seen: ${html}`),
    ];
  });
}
