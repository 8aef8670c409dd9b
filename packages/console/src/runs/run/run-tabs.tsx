// The views of what happened: the timeline, the rounds in figures, and the raw bytes.

import type { ComponentChildren } from "preact";
import type { ItemRow } from "../trace/items.ts";
import type { Round } from "../trace/rounds.ts";
import { RawView } from "./raw-view.tsx";
import { RoundTable } from "./round-table.tsx";
import type { RunState } from "./run-state.ts";

export interface RunTabsProps {
  readonly chosen: string;
  readonly onChoose: (tab: string) => void;
  readonly timeline: () => ComponentChildren;
  readonly state: RunState;
  readonly rounds: readonly Round[];
  readonly rows: readonly ItemRow[];
  readonly answer: number;
  readonly onAnswer: (answer: number) => void;
  readonly onLane: (answer: number) => void;
}

const titles = { timeline: "Timeline", rounds: "Rounds", raw: "Requests and chunks" } as const;
type TabId = keyof typeof titles;
const ids = Object.keys(titles) as TabId[];

export function RunTabs(props: RunTabsProps) {
  const current = ids.find((id) => id === props.chosen) ?? "timeline";
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = ids.at((ids.indexOf(current) + step) % ids.length) ?? current;
    props.onChoose(next);
    document.getElementById(`run-tab-${next}`)?.focus();
  };
  return (
    <div class="run-tabs">
      <div class="tab-list" role="tablist" aria-label="Views" onKeyDown={move}>
        {ids.map((id) => (
          <button
            key={id}
            id={`run-tab-${id}`}
            class="tab"
            type="button"
            role="tab"
            aria-selected={id === current}
            aria-controls="run-tab-panel"
            tabIndex={id === current ? 0 : -1}
            onClick={() => props.onChoose(id)}
          >
            {titles[id]}
          </button>
        ))}
      </div>
      <div id="run-tab-panel" class="run-tab-panel" role="tabpanel" aria-labelledby={`run-tab-${current}`}>
        {current === "timeline" && props.timeline()}
        {current === "rounds" && <RoundTable rounds={props.rounds} onOpen={props.onLane} />}
        {current === "raw" && (
          <RawView
            state={props.state}
            rounds={props.rounds}
            rows={props.rows}
            answer={props.answer}
            onAnswer={props.onAnswer}
          />
        )}
      </div>
    </div>
  );
}
