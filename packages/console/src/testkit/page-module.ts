// A module of the console in a page without the rest of it, for tests of one part alone.

import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build, type Rollup } from "vite";
import type { PageOpener } from "./browser.ts";

export interface ModulePage extends AsyncDisposable {
  /** The exports of the module are in the global `tested`. */
  readonly page: Page;
}

/**
 * `path`: from the folder of the sources, such as `ui/markdown/pace.ts`. `url`: the page that it is in, for requests to
 * its server. Default: an empty page.
 */
export async function openModule(browser: PageOpener, path: string, url?: string): Promise<ModulePage> {
  const entry = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const built = (await build({
    configFile: false,
    logLevel: "warn",
    build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "tested" } },
  })) as Rollup.RollupOutput[];
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  if (url !== undefined) await page.goto(url);
  await page.evaluate(`${built[0]?.output[0].code}; globalThis.tested = tested;`);
  return { page, [Symbol.asyncDispose]: () => page.close() };
}
