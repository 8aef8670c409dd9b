// The keys that work everywhere: Ctrl-K, `?`, `g` and a letter for a page, and those of the shown actions.

import { useEffect } from "preact/hooks";
import { commands } from "./commands.ts";
import type { PageEntry } from "./page-entry.ts";
import { keyOfPage } from "./palette-entries.ts";
import { goTo, linkTo } from "./router.ts";

export interface KeyHandlers {
  readonly pages: readonly PageEntry[];
  readonly openPalette: () => void;
  readonly openShortcuts: () => void;
}

/** How long after `g` a letter still goes to a page. */
const goMs = 1_500;

export function useKeys({ pages, openPalette, openShortcuts }: KeyHandlers): void {
  useEffect(() => {
    let goUntilMs = 0;
    const pressed = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      if (key === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
      const isGoing = event.timeStamp < goUntilMs;
      goUntilMs = 0;
      const page = isGoing ? pages.find(({ title }) => keyOfPage(title) === key) : undefined;
      const command = commands.peek().find((each) => each.key === event.key);
      if (page) goTo(linkTo(page.path));
      else if (key === "g") goUntilMs = event.timeStamp + goMs;
      else if (event.key === "?") openShortcuts();
      else if (command) command.run();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [pages, openPalette, openShortcuts]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select, [role=textbox]"))
  );
}
