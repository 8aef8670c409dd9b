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

/** Kinds that share a colour have one entry. */
const entries: readonly (readonly [words: string, ...kinds: BarKind[]])[] = [
  ["Queue", "queue"],
  ["Waiting", "slot", "retry", "lock"],
  ["Prompt", "prompt"],
  ["Generation", "generation"],
  ["Tool", "tool"],
  ["Store", "store"],
  ["Approval", "approval"],
  ["Model away", "away"],
];

export function Legend({ lanes }: { readonly lanes: readonly Lane[] }) {
  const used = new Set(lanes.flatMap(({ bars }) => bars.map(({ kind }) => kind)));
  return (
    <ul class="legend row" aria-label="Colours">
      {entries
        .filter(([, ...kinds]) => kinds.some((kind) => used.has(kind)))
        .map(([words, kind]) => (
          <li key={words} class="row">
            <span class={`swatch ${kind}`} /> {words}
          </li>
        ))}
    </ul>
  );
}
