// The list that was shown last, so that back shows it as it was.

import { key } from "../../api/key.ts";
import { type RunFilters, toPlaceQuery } from "./filters.ts";
import { RunList } from "./run-list.ts";

let shown: { readonly list: RunList; readonly of: string } | undefined;

/** The list with these filters, for whoever has the key now. */
export function listFor(filters: RunFilters): RunList {
  const of = JSON.stringify([key.peek(), toPlaceQuery(filters)]);
  if (shown?.of !== of) shown = { list: new RunList(filters), of };
  return shown.list;
}

/** After a change that the list cannot know of. */
export function forgetList(): void {
  shown = undefined;
}
