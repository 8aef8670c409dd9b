// Checks a page for problems of accessibility, with axe.

import axe from "axe-core";
import type { Page } from "playwright-core";

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What depends on sizes and colours, and not only on the elements. */
const rulesOfLooks = [
  "color-contrast",
  "link-in-text-block",
  "scrollable-region-focusable",
  "target-size",
  "button-name",
  "link-name",
  "label",
  "page-has-heading-one",
];

/**
 * What axe finds in the page as it is now: one line for each problem. `isLookOnly`: all of it was checked before, and only
 * its looks are others.
 */
export async function axeProblems(page: Page, isLookOnly = false): Promise<string[]> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (!isThere) await page.evaluate(axe.source); // not a script of the page: its policy holds
  const options = {
    resultTypes: ["violations"],
    // There are no other documents whose styles it could need.
    preload: false,
    ...(isLookOnly && { runOnly: rulesOfLooks }),
  };
  const { violations } = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  )) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}
