// The runs of a chat, from the list of runs, and what was said in them.

import { get } from "../api/api.ts";
import type { Item, ResponseObject } from "../api/response.ts";
import type { Page, RunSummary } from "../api/types.ts";

/** What chats of the console have as `metadata.source`. */
export const consoleSource = "console";

/**
 * The source of a chat whose first message was edited: nothing comes before a first message, so the branches of one
 * name the chat that they belong to.
 */
export function branchSource(root: string): string {
  return `${consoleSource}/${root}`;
}

/** The chat that a first message belongs to as a branch; undefined if it begins one. */
function rootOfBranch(source: string | null): string | undefined {
  return source?.startsWith(`${consoleSource}/`) ? source.slice(consoleSource.length + 1) : undefined;
}

const maxRuns = 1_000;
const maxBranches = 20;
const maxItems = 2_000;

export interface Thread {
  /** The first response of the chat, or its conversation. */
  readonly root: string;
  readonly runs: readonly RunSummary[];
}

/** All runs of the chat that has `id`, of the chat or of a response in it, with the branches of its first message. */
export async function loadThread(id: string, signal: AbortSignal): Promise<Thread> {
  const own = await runsOf({ thread: id }, signal);
  if (own.length === 0) {
    const [run] = await runsOf({ search: id }, signal, 1);
    if (run?.id === id && run.thread_id !== id) return loadThread(run.thread_id, signal);
  }
  const root = own.map(({ source }) => rootOfBranch(source)).find((it) => it !== undefined) ?? id;
  const main = root === id ? own : await runsOf({ thread: root }, signal);
  const branches = await runsOf({ source: branchSource(root), roots: "true" }, signal, maxBranches);
  const others = await Promise.all(branches.map((branch) => runsOf({ thread: branch.id }, signal)));
  const all = [own, main, branches, ...others].flat();
  return { root, runs: [...new Map(all.map((run) => [run.id, run])).values()] };
}

/** A run with what was said in it. */
export interface FullRun extends RunSummary {
  readonly response: ResponseObject;
  readonly input: { readonly data: readonly Item[]; readonly has_more: boolean };
}

/** So many are shown soon; the others come in larger pages. */
const firstPage = 12;
const laterPage = 50;

/** What was said in a thread, the newest first, page by page. */
export async function* readContents(thread: string, signal: AbortSignal): AsyncGenerator<readonly FullRun[]> {
  for (let after = ""; ; ) {
    const limit = `${after === "" ? firstPage : laterPage}`;
    const query = new URLSearchParams({ thread, limit, include: "response,input", ...(after && { after }) });
    const page = await get<Page<FullRun>>(`v1/runs?${query}`, { signal });
    // One that was removed meanwhile has no response.
    yield page.data.filter(({ response }) => response !== undefined);
    if (!page.has_more || page.last_id === null) return;
    after = page.last_id;
  }
}

/** The input of a response. That of another client may be a long history. */
export async function loadInput(path: string, signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = [];
  for (let after = ""; items.length < maxItems; ) {
    const page = await get<Page<Item>>(`${path}/input_items?limit=100&order=asc${after}`, { signal });
    items.push(...page.data);
    if (!page.has_more || page.last_id === null) break;
    after = `&after=${encodeURIComponent(page.last_id)}`;
  }
  return items;
}

async function runsOf(
  filter: Readonly<Record<string, string>>,
  signal: AbortSignal,
  max = maxRuns,
): Promise<RunSummary[]> {
  const runs: RunSummary[] = [];
  for (let after = ""; runs.length < max; ) {
    const query = new URLSearchParams({ ...filter, limit: "100", order: "asc", ...(after && { after }) });
    const page = await get<Page<RunSummary>>(`v1/runs?${query}`, { signal });
    runs.push(...page.data);
    if (!page.has_more || page.last_id === null) break;
    after = page.last_id;
  }
  return runs;
}
