// Which row the keys lead to.

export interface KeyMove {
  readonly key: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}

export interface ListPosition {
  /** The selected row; -1 if there is none. */
  readonly current: number;
  readonly count: number;
  /** How many rows are in view. */
  readonly page: number;
  /** The first row in view: where the keys begin if none is selected. */
  readonly firstInView: number;
}

/** The row to select, or undefined for a key that selects none. */
export function rowForKey(
  move: KeyMove,
  { current, count, page, firstInView }: ListPosition,
): number | undefined {
  if (count === 0 || move.altKey || move.ctrlKey || move.metaKey) return undefined;
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
  };
  const step = steps[move.key];
  if (step !== undefined) {
    const target = current < 0 ? firstInView : current + step;
    return Math.max(0, Math.min(count - 1, target));
  }
  if (move.key === "Home") return 0;
  return move.key === "End" ? count - 1 : undefined;
}
