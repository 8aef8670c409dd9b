// What the colours of the waterfall mean: those that are in it.

import type { BarKind, Lane } from "../trace/lane-book.ts";

export const kindWords: Readonly<Record<BarKind, string>> = {
  queue: "Queue",
  slot: "Waits for a slot",
  prompt: "Prompt",
  generation: "Generation",
  retry: "Waits to retry",
  lock: "Waits for a lock",
  tool: "Tool",
  store: "Store",
  approval: "Approval",
  away: "Model away",
};

export function Legend({ lanes }: { readonly lanes: readonly Lane[] }) {
  const kinds = new Set(lanes.flatMap(({ bars }) => bars.map(({ kind }) => kind)));
  return (
    <ul class="legend row" aria-label="Colours">
      {(Object.keys(kindWords) as BarKind[])
        .filter((kind) => kinds.has(kind))
        .map((kind) => (
          <li key={kind} class="row">
            <span class={`swatch ${kind}`} /> {kindWords[kind]}
          </li>
        ))}
    </ul>
  );
}
