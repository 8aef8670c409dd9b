// The runs of a thread that follow one of them.

import type { ResponseObject } from "../../api/response.ts";
import type { RunSummary } from "../../api/types.ts";

/** In a conversation the next one; in a chain each that continues from it, as a branch. `thread` is from old to new. */
export function nextRuns(
  { id, conversation }: Pick<ResponseObject, "id" | "conversation">,
  thread: readonly RunSummary[],
): readonly RunSummary[] {
  if (!conversation) return thread.filter(({ previous_response_id: before }) => before === id);
  const at = thread.findIndex((run) => run.id === id);
  return at < 0 ? [] : thread.slice(at + 1, at + 2);
}
