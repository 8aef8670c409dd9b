// A real browser, for tests of the console: Debian's Chromium, or whichever is installed.

import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** Where a browser is installed; undefined if there is none. */
export const browserPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Why tests in a browser are skipped, for their titles; empty if they are not. */
export const skipReason =
  browserPath === undefined ? " (skipped: there is no Chromium; on Debian: apt-get install chromium)" : "";

/** Screenshots are written here, for people to look at. */
const screenshots = fileURLToPath(new URL("../../../../.cache/screenshots/", import.meta.url));

export async function startBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error("There is no browser: the test should have been skipped.");
  return chromium.launch({
    executablePath: browserPath,
    // Chromium's own sandbox does not work as root. The pages are our own.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
}

/** What opens pages: a browser, or what stands for the shared one. */
export type PageOpener = Pick<Browser, "newContext" | "newPage">;

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** What went wrong in the page so far: errors, failed requests, and requests to other origins. */
  readonly problems: string[];
}

/** Opens the console at a place such as `#/runs`. */
export async function openConsole(
  browser: PageOpener,
  url: string,
  place = "",
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (line) => {
    if (line.type() === "error") problems.push(`console: ${line.text()}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && protocol !== "data:" && protocol !== "blob:")
      problems.push(`request to another origin: ${request.url()}`);
  });
  followRequests(page);
  await page.goto(`${url}/${place}`);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

const underWay = new WeakMap<Page, Set<Request>>();

function followRequests(page: Page): void {
  const requests = new Set<Request>();
  underWay.set(page, requests);
  page.on("request", (request) => requests.add(request));
  for (const end of ["requestfinished", "requestfailed"] as const)
    page.on(end as "requestfinished", (request) => requests.delete(request));
}

/** How many requests of the page are under way. */
export function openRequests(page: Page): number {
  return underWay.get(page)?.size ?? 0;
}

/** Waits for the replies to the requests that the page makes now. */
export async function waitForReplies(page: Page): Promise<void> {
  // What the page does at once, and in its next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 10))));
  while (openRequests(page) > 0)
    await Promise.race([page.waitForEvent("requestfinished"), page.waitForEvent("requestfailed")]);
}

/** Writes a screenshot of the page at a width, light or dark. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}
