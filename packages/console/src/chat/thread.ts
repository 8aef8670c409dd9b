// The runs of a chat, from the list of runs, and what was said in them.

import { get, remove } from "../api/api.ts";
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

/** So many runs of a thread are shown, the newest: more would make the page slow. */
export const maxRuns = 1_000;
const maxBranches = 20;
const maxItems = 2_000;

export interface Thread {
  /** The first response of the chat, or its conversation. */
  readonly root: string;
  /** The oldest first. */
  readonly runs: readonly RunSummary[];
  /** Whether there are older runs than these. */
  readonly hasOlder: boolean;
}

/**
 * The newest runs of the chat that has `id`, of the chat or of a response in it, with the branches of its first message.
 */
export async function loadThread(id: string, signal: AbortSignal, max = maxRuns): Promise<Thread> {
  const own = await runsOf({ thread: id }, signal, max);
  if (own.runs.length === 0) {
    // The oldest first: a later one may have the id in its title.
    const [run] = (await runsOf({ search: id, order: "asc" }, signal, 1)).runs;
    if (run?.id === id && run.thread_id !== id) return loadThread(run.thread_id, signal, max);
  }
  // Only the first run of a branch names the chat.
  const first = own.hasOlder ? await runsOf({ thread: id, order: "asc" }, signal, 1) : own;
  const root = first.runs.map(({ source }) => rootOfBranch(source)).find((it) => it !== undefined) ?? id;
  const main = root === id ? own : await runsOf({ thread: root }, signal, max);
  const branches = await runsOf({ source: branchSource(root), roots: "true" }, signal, maxBranches);
  const others = await Promise.all(branches.runs.map((branch) => runsOf({ thread: branch.id }, signal, max)));
  const lists = [own, main, branches, ...others];
  const all = lists.flatMap(({ runs }) => runs).toReversed();
  return {
    root,
    runs: [...new Map(all.map((run) => [run.id, run])).values()],
    hasOlder: lists.some(({ hasOlder }) => hasOlder),
  };
}

/** Deletes a chat with its branches, however long it is. */
export async function deleteThread(id: string, max = maxRuns): Promise<void> {
  const { signal } = new AbortController();
  const deleted = new Set<string>();
  for (let root = id; ; ) {
    const thread = await loadThread(root, signal, max);
    // The newest first: what follows a response is gone before it.
    const runs = thread.runs.toSorted((a, b) => b.created_at_ms - a.created_at_ms);
    const left = runs.filter((run) => !deleted.has(run.id));
    if (left.length === 0) return;
    for (const run of left) {
      await remove(`v1/responses/${encodeURIComponent(run.id)}`);
      deleted.add(run.id);
    }
    root = thread.root;
  }
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

interface RunPages {
  readonly runs: readonly RunSummary[];
  readonly hasOlder: boolean;
}

/** At most `max` runs, the newest first unless the filter has another order. */
async function runsOf(
  filter: Readonly<Record<string, string>>,
  signal: AbortSignal,
  max: number,
): Promise<RunPages> {
  const runs: RunSummary[] = [];
  const limit = `${Math.min(max, 100)}`;
  for (let after = ""; ; ) {
    const query = new URLSearchParams({ order: "desc", ...filter, limit, ...(after && { after }) });
    const page = await get<Page<RunSummary>>(`v1/runs?${query}`, { signal });
    runs.push(...page.data);
    if (!page.has_more || page.last_id === null) return { runs, hasOlder: false };
    if (runs.length >= max) return { runs, hasOlder: true };
    after = page.last_id;
  }
}
