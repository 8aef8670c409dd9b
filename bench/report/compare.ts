// Compares a run with the committed figures: bench/figures.json, which a full run writes beside docs/benchmarks.md.

/** Figures by the names of their rows. Ratios to the floor, where the row is one. */
export type Figures = Readonly<
  Record<string, { readonly value: number | null; readonly isHigherBetter: boolean }>
>;

/** How much worse a row may be before it is named. */
const tolerance = 0.15;

/** The rows that got worse by more than that, in words, the worst first. */
export function worseRows(before: Figures, now: Figures): string[] {
  const worse = Object.entries(now).flatMap(([name, { value, isHigherBetter }]) => {
    const old = before[name]?.value;
    if (old == null || value == null || !(old > 0) || !(value > 0)) return [];
    const factor = isHigherBetter ? old / value : value / old;
    return factor > 1 + tolerance ? [{ name, old, value, factor }] : [];
  });
  return worse
    .toSorted((a, b) => b.factor - a.factor)
    .map(({ name, old, value, factor }) => {
      const percent = Math.round((factor - 1) * 100);
      return `${name}: ${round(old)} before, ${round(value)} now (${percent} % worse)`;
    });
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
