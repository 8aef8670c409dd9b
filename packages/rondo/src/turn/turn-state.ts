// The state of a turn: its last run.

/** How a turn ended. */
export type StopReason = "completed" | "timeout" | "error" | "cancelled";

export const stopReasons: readonly string[] = [
  "completed",
  "timeout",
  "error",
  "cancelled",
] satisfies StopReason[];

export interface TurnState {
  /** How many times it was started. */
  readonly attempts: number;
  readonly startTime: Date | null;
  readonly endTime: Date | null;
  readonly stopReason: StopReason | null;
  readonly output: unknown;
  /** Whether `output` is the return value, and not the list of yielded values. */
  readonly hasReturned: boolean;
}

export const notStarted: TurnState = {
  attempts: 0,
  startTime: null,
  endTime: null,
  stopReason: null,
  output: undefined,
  hasReturned: false,
};
