// Answers that a crash cut off.

interface Cuttable {
  readonly turn: number;
  readonly item: { readonly type: string; readonly status?: unknown };
}

/** Drops answers that a crash cut off and that were made again: only the last of a response may be incomplete. */
export function withoutCutAnswers<T extends Cuttable>(output: readonly T[]): T[] {
  const last = output.at(-1)?.turn;
  const cut = new Set(
    output.filter(({ item, turn }) => item.status === "incomplete" && turn !== last).map(({ turn }) => turn),
  );
  return output.filter(({ turn }) => !cut.has(turn));
}
