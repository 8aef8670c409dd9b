// Loads what is needed to repeat a run: its whole input, what came before it, and the tools of the server.

import { get } from "../../api/api.ts";
import type { ToolList } from "../../api/inspect-types.ts";
import type { Item, ResponseObject } from "../../api/response.ts";
import type { Page, RunSummary } from "../../api/types.ts";
import type { RunRecord } from "../code/record.ts";
import { readRounds } from "../trace/rounds.ts";
import type { RunState } from "./run-state.ts";

/** How many runs before it are read. */
const maxEarlier = 50;
const maxInputItems = 10_000;

export async function loadRecord(state: RunState, response: ResponseObject): Promise<RunRecord> {
  const tools = get<ToolList>("v1/tools").then(
    ({ data }) => data,
    () => [],
  );
  const summary = state.summary.peek();
  return {
    title: summary?.title || response.id,
    response,
    input: await readInput(response.id),
    earlier: await readEarlier(response, state.thread.peek()),
    rounds: readRounds(state.events.peek()),
    serverTools: await tools,
  };
}

async function readInput(id: string): Promise<Item[]> {
  const items: Item[] = [];
  let after = "";
  while (items.length < maxInputItems) {
    const page = await get<Page<Item>>(
      `v1/responses/${encodeURIComponent(id)}/input_items?order=asc&limit=100${after}`,
    );
    items.push(...page.data);
    if (!page.has_more || page.last_id === null) break;
    after = `&after=${encodeURIComponent(page.last_id)}`;
  }
  return items;
}

/** What the runs before it said, as far as they are still stored. */
async function readEarlier(response: ResponseObject, thread: readonly RunSummary[]): Promise<Item[]> {
  const items: Item[][] = [];
  const at = thread.findIndex(({ id }) => id === response.id);
  const inConversation = response.conversation ? thread.slice(0, Math.max(0, at)).map(({ id }) => id) : [];
  let next = response.conversation ? inConversation.pop() : response.previous_response_id;
  while (next && items.length < maxEarlier) {
    const earlier: ResponseObject | undefined = await get<ResponseObject>(
      `v1/responses/${encodeURIComponent(next)}`,
    ).catch(() => undefined);
    if (!earlier) break;
    items.unshift([...(await readInput(earlier.id)), ...earlier.output]);
    next = response.conversation ? inConversation.pop() : earlier.previous_response_id;
  }
  return items.flat();
}
