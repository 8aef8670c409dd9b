// The states of a response and of an item, and which may follow which.

export const responseStatuses = [
  "queued",
  "in_progress",
  "completed",
  "incomplete",
  "failed",
  "cancelled",
  "requires_action",
] as const;

export type ResponseStatus = (typeof responseStatuses)[number];

/** An item goes from `in_progress` to one of the others, and is then frozen. */
export const itemStatuses = ["in_progress", "completed", "incomplete", "failed"] as const;

export type ItemStatus = (typeof itemStatuses)[number];

const followers: Readonly<Record<ResponseStatus, readonly ResponseStatus[]>> = {
  queued: ["in_progress", "cancelled", "failed"],
  in_progress: ["completed", "incomplete", "failed", "cancelled", "requires_action"],
  completed: [],
  incomplete: [],
  failed: [],
  cancelled: [],
  requires_action: [],
};

/** Whether a response may go from one state to another. `undefined` is a response that does not exist yet. */
export function canMove(from: ResponseStatus | undefined, to: ResponseStatus): boolean {
  if (from === undefined) return to === "queued" || to === "in_progress";
  return followers[from].includes(to);
}

/** Whether no state can follow: the response is over. */
export function isTerminal(status: ResponseStatus): boolean {
  return followers[status].length === 0;
}
