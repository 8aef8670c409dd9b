// The list of runs: what it shows of a response, and what a request leaves there.

import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { RunsQuery } from "../protocol/query.ts";
import type { RunObject } from "../protocol/run-object.ts";
import type { RunSummary, Store } from "../store/store.ts";
import { type ListObject, toCursorError, toList } from "./list-object.ts";

const maxTitle = 120;
const maxSource = 64;
/** So much of a message is read for its title: it may begin with white space. */
const maxRead = 500;

/** The beginning of the last user message, on one line; empty if there is none. */
export function titleOf(input: readonly (InputItem | OutputItem)[]): string {
  for (let index = input.length - 1; index >= 0; index -= 1) {
    const item = input[index] as { type: string; role?: unknown; content?: unknown };
    if (item.type === "message" && item.role === "user") return toLine(textOf(item.content), maxTitle);
  }
  return "";
}

/** Where the request came from, as its client says; undefined if it does not. */
export function sourceOf({ source }: Readonly<Record<string, string>>): string | undefined {
  return source === undefined ? undefined : toLine(source, maxSource) || undefined;
}

export async function listRuns(
  store: Store,
  owner: string,
  query: RunsQuery,
): Promise<ListObject<RunObject>> {
  const { roots: onlyRoots, search: given = "", created_after_ms, created_before_ms, ...others } = query;
  const { include: _contents, ...rest } = others;
  // As titles are written.
  const search = toLine(given, maxTitle);
  const options = {
    ...rest,
    onlyRoots,
    ...(search !== "" && { search }),
    ...(created_after_ms !== undefined && { createdAfterMs: created_after_ms }),
    ...(created_before_ms !== undefined && { createdBeforeMs: created_before_ms }),
  };
  const page = await store.listRuns(owner, options).catch(toCursorError);
  const list = toList({ data: page.data.map(toRunObject), hasMore: page.hasMore });
  // A page without hits too says where the next one begins.
  if (page.next === undefined) return list;
  const isFromEnd = query.before !== undefined && query.after === undefined;
  return { ...list, ...(isFromEnd ? { first_id: page.next } : { last_id: page.next }) };
}

function toRunObject(run: RunSummary): RunObject {
  return {
    object: "run",
    id: run.id,
    title: run.title ?? "",
    model: run.model,
    status: run.status,
    background: run.background,
    source: run.source,
    thread_id: run.threadId,
    previous_response_id: run.previousResponseId,
    created_at_ms: run.createdAtMs,
    completed_at_ms: run.completedAtMs,
    usage: run.usage && {
      input_tokens: run.usage.input_tokens,
      output_tokens: run.usage.output_tokens,
      total_tokens: run.usage.total_tokens,
      cached_tokens: run.usage.input_tokens_details.cached_tokens,
    },
    error: run.error,
  };
}

/** The first text of a message. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  for (const part of content as readonly { text?: unknown }[])
    if (typeof part?.text === "string" && part.text.trim() !== "") return part.text;
  return "";
}

// Control characters, separators, and those that change the direction of what follows.
const unwanted = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\s]+/gu;
const isLine = /^[\x21-\x7e](?: ?[\x21-\x7e])*$/;

/** A text on one line, of at most so many characters. */
function toLine(text: string, max: number): string {
  const start = text.length > maxRead ? text.slice(0, maxRead) : text;
  if (start.length <= max && isLine.test(start)) return start;
  const line = start.toWellFormed().replace(unwanted, " ").trim();
  return line.length <= max ? line : Array.from(line).slice(0, max).join("").trimEnd();
}
