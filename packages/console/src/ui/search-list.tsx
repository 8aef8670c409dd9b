// A list of links with a search above it, for the pages that show one of many.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export interface SearchListProps {
  /** What is searched, such as `tools`. */
  readonly name: string;
  readonly search: Signal<string>;
  /** Said if nothing fits; undefined if something does. */
  readonly none: string | undefined;
  readonly children: ComponentChildren;
}

export function SearchList({ name, search, none, children }: SearchListProps) {
  return (
    <>
      <input
        class="input"
        type="search"
        aria-label={`Search ${name}`}
        placeholder={`Search ${name}`}
        value={search}
        onInput={(event) => {
          search.value = event.currentTarget.value;
        }}
      />
      {children}
      {none !== undefined && <p class="soft">{none}</p>}
    </>
  );
}
