// The status of a run, in words and in colour.

import type { RunStatus } from "../api/types.ts";

const looks: Readonly<Record<RunStatus, readonly [look: string, words: string]>> = {
  queued: ["", "Queued"],
  in_progress: ["busy", "Running"],
  completed: ["good", "Completed"],
  incomplete: ["warn", "Incomplete"],
  failed: ["bad", "Failed"],
  cancelled: ["", "Cancelled"],
  requires_action: ["warn", "Waits for you"],
};

export function StatusBadge({ status }: { readonly status: RunStatus }) {
  const [look, words] = looks[status] ?? ["", status];
  return <span class={`badge ${look}`}>{words}</span>;
}
