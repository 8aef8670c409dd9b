// The browser that test files share, as a start takes longer than many tests.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { type PageOpener, startBrowser } from "./browser.ts";

interface SharedBrowser {
  readonly browser: Promise<Browser>;
  users: number;
  closing: ReturnType<typeof setTimeout> | undefined;
}

// Test files of one process do not share modules.
const shared = globalThis as { rondoBrowser?: SharedBrowser | undefined };
/** How long it waits for the next test file. */
const idleMs = 3_000;

/** The shared browser for the tests of this file or `describe`. What they open in it, they close. */
export function sharedBrowser(): PageOpener {
  let use: SharedBrowser;
  beforeAll(async () => {
    const known = await shared.rondoBrowser?.browser.catch(() => undefined);
    use = (known?.isConnected() && shared.rondoBrowser) || {
      browser: startBrowser(),
      users: 0,
      closing: undefined,
    };
    shared.rondoBrowser = use;
    use.users += 1;
    clearTimeout(use.closing);
    await use.browser;
  });
  afterAll(() => {
    use.users -= 1;
    if (use.users === 0) use.closing = setTimeout(() => void close(use).catch(() => {}), idleMs).unref();
  });
  return {
    newContext: async (options) => (await use.browser).newContext(options),
    newPage: async (options) => (await use.browser).newPage(options),
  };
}

async function close(use: SharedBrowser): Promise<void> {
  if (shared.rondoBrowser === use) shared.rondoBrowser = undefined;
  await (await use.browser).close();
}
