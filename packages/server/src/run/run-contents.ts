// Adds to a page of runs what was said in them: a chat of many responses is read with a few requests.

import type { InputItem } from "../protocol/items.ts";
import type { RunsQuery } from "../protocol/query.ts";
import type { ResponseObject } from "../protocol/response.ts";
import type { RunObject } from "../protocol/run-object.ts";
import type { ListObject } from "./list-object.ts";

/** Such a page ends after so much. It has one run at least. */
const maxChars = 4_000_000;

export interface RunContents {
  /** Undefined if it was removed meanwhile. */
  response(id: string): Promise<ResponseObject | undefined>;
  input(id: string): Promise<{ readonly data: InputItem[]; readonly has_more: boolean }>;
}

export async function addContents(
  page: ListObject<RunObject>,
  { include, after, before }: RunsQuery,
  contents: RunContents,
): Promise<ListObject<RunObject>> {
  // A page before a run grows from there, towards the start of the list.
  const isFromEnd = before !== undefined && after === undefined;
  const runs = isFromEnd ? page.data.toReversed() : page.data;
  const data: RunObject[] = [];
  let chars = 0;
  for (const run of runs) {
    const [response, input] = await Promise.all([
      include.includes("response") ? contents.response(run.id) : undefined,
      include.includes("input") ? contents.input(run.id) : undefined,
    ]);
    const full = { ...run, ...(response && { response }), ...(input && { input }) };
    chars += JSON.stringify(full).length;
    if (chars > maxChars && data.length > 0) break;
    data.push(full);
  }
  if (data.length === runs.length) return { ...page, data: isFromEnd ? data.toReversed() : data };
  const last = data.at(-1)?.id ?? null;
  return isFromEnd
    ? { ...page, data: data.toReversed(), first_id: last, has_more: true }
    : { ...page, data, last_id: last, has_more: true };
}
