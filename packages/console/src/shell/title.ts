// The title of the document: what the page shows, the page, and the console. Tabs, the history and bookmarks have it.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** What the page shows, if it is one of many. */
const subject = signal("");

/** Names what a page shows, such as a run, as long as it does. An empty text counts as none. */
export function useTitle(text: string): void {
  useEffect(() => {
    subject.value = text;
    return () => {
      subject.value = "";
    };
  }, [text]);
}

/** The title of the document on a page of this name; undefined for no page. */
export function documentTitle(page: string | undefined): string {
  return [subject.value, page, "Rondo"].filter((part) => part).join(" – ");
}
