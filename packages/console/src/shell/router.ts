// The place in the console is the part of the address after `#`: `#/runs/resp_1?status=failed`. So reload, back and
// links work, and the server needs no path for each page.

import { computed, signal } from "@preact/signals";

export interface Place {
  /** The first part of the path; empty for the home page. */
  readonly page: string;
  /** The other parts, decoded. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const place = computed(() => readPlace(hash.value));

function readPlace(text: string): Place {
  const [path = "", query = ""] = text.replace(/^#?\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").map(decode);
  return { page, rest, query: new URLSearchParams(query) };
}

/** The link to a page. Its parts are encoded. */
export function linkTo(page: string, rest: readonly string[] = [], query?: Record<string, string>): string {
  // A name of a model or a tool may have half a character, which no address can have.
  const path = [page, ...rest].map((part) => encodeURIComponent(part.toWellFormed())).join("/");
  const search = new URLSearchParams(query).toString();
  return `#/${path}${search === "" ? "" : `?${search}`}`;
}

export function goTo(link: string): void {
  location.hash = link;
}

/** Changes the place without a new entry in the history: for filters and the like. */
export function replacePlace(link: string): void {
  history.replaceState(null, "", link);
  hash.value = location.hash;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
