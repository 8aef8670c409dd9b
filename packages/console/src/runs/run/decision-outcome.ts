// What became of the calls of a run that wait for a person: the runs after it tell.

import { get } from "../../api/api.ts";
import type { Item, ResponseObject } from "../../api/response.ts";
import type { Page, RunSummary } from "../../api/types.ts";
import { nextRuns } from "./next-runs.ts";

export type DecisionOutcome =
  | { readonly type: "open" }
  /** Decided, or passed over, in this run. */
  | { readonly type: "decided" | "passed-over"; readonly runId: string };

/** So many branches are looked into. */
const maxBranches = 20;
/** A decision is among the last items: a client may send the whole history before it. */
const inputPage = 100;

export async function readOutcome(
  response: ResponseObject,
  thread: readonly RunSummary[],
  signal?: AbortSignal,
): Promise<DecisionOutcome> {
  const next = nextRuns(response, thread);
  const [first] = next;
  if (!first) return { type: "open" };
  const asked = new Set(approvalRequests(response).map(({ id }) => id));
  for (const { id } of next.slice(0, maxBranches)) {
    const path = `v1/responses/${encodeURIComponent(id)}/input_items?order=desc&limit=${inputPage}`;
    const { data } = await get<Page<Item>>(path, { signal });
    if (data.some((item) => isDecision(item) && asked.has(item.approval_request_id ?? "")))
      return { type: "decided", runId: id };
  }
  return { type: "passed-over", runId: first.id };
}

export function approvalRequests({ output }: ResponseObject): readonly Item[] {
  return output.filter(({ type }) => type === "mcp_approval_request");
}

function isDecision({ type }: Item): boolean {
  return type === "mcp_approval_response";
}
