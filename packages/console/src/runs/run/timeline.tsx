// The timeline of a run: the waterfall, and the details of the lane that is selected in it.

import { useComputed, useSignal } from "@preact/signals";
import { isRunning } from "../../api/response.ts";
import { linkTo } from "../../shell/router.ts";
import { Spinner } from "../../ui/spinner.tsx";
import { now } from "../clock.ts";
import { layOut } from "../trace/layout.ts";
import type { Round } from "../trace/rounds.ts";
import { pan, type Span, zoom } from "../trace/scale.ts";
import { LaneDetails } from "./lane-details.tsx";
import { Legend } from "./legend.tsx";
import { MarkList } from "./mark-list.tsx";
import type { RunState } from "./run-state.ts";
import { Waterfall } from "./waterfall.tsx";
import "./waterfall.css";

export interface TimelineProps {
  readonly state: RunState;
  readonly rounds: readonly Round[];
  readonly selected: string | undefined;
  readonly onSelect: (lane: string) => void;
  /** Shows the raw bytes of an answer. */
  readonly onRaw: (answer: number) => void;
  readonly isLive: boolean;
}

export function Timeline({ state, rounds, selected, onSelect, onRaw, isLive }: TimelineProps) {
  const timeline = useComputed(() => {
    const trace = state.trace.value;
    const response = state.response.value;
    const isOver = !response || !isRunning(response) || (trace?.is_over ?? true);
    // The clock is only looked at while something goes on.
    return layOut(state.events.value, { now: isOver ? 0 : now.value - (trace?.started_at_ms ?? 0), isOver });
  });
  const zoomed = useSignal<Span | undefined>(undefined);
  const { lanes, marks, to: end } = timeline.value;
  const span = zoomed.value ?? { from: 0, to: end };
  const change = (next: Span) => {
    zoomed.value = next.from <= 0 && next.to >= end ? undefined : next;
  };
  if (state.events.value.length === 0 && !state.isLoaded.value)
    return (
      <p class="row soft" role="status">
        <Spinner /> Loading the trace …
      </p>
    );
  if (state.events.value.length === 0) return <NoTrace level={state.trace.value?.level} isLive={isLive} />;
  const lane = lanes.find(({ id }) => id === selected);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys come from the lanes in it
    <div
      class="timeline"
      onKeyDown={(event) => {
        const next = forKey(event, span, end);
        if (!next) return;
        event.preventDefault();
        change(next);
      }}
    >
      <div class="timeline-tools row">
        <Legend lanes={lanes} />
        <div class="timeline-zoom">
          <ZoomButton sign="−" label="Zoom out" onClick={() => change(zoom(span, 0.5, 0.5, end))} />
          <ZoomButton sign="+" label="Zoom in" onClick={() => change(zoom(span, 2, 0.5, end))} />
          <button
            class="button quiet"
            type="button"
            disabled={!zoomed.value}
            title="Show all (0)"
            onClick={() => change({ from: 0, to: end })}
          >
            Show all
          </button>
        </div>
      </div>
      <Waterfall
        lanes={lanes}
        marks={marks}
        span={span}
        end={end}
        selected={selected}
        onSelect={onSelect}
        onSpan={change}
        isLive={isLive}
      />
      <MarkList marks={marks} />
      {lane ? (
        <LaneDetails
          lane={lane}
          round={lane.answer === undefined ? undefined : rounds.find(({ answer }) => answer === lane.answer)}
          events={state.events.value}
          onRaw={onRaw}
        />
      ) : (
        <p class="soft timeline-hint">
          Select a lane for its details. Zoom with + and − or Ctrl and the wheel, move with ← and →.
        </p>
      )}
    </div>
  );
}

interface ZoomButtonProps {
  readonly sign: string;
  readonly label: string;
  readonly onClick: () => void;
}

function ZoomButton({ sign, label, onClick }: ZoomButtonProps) {
  return (
    <button
      class="button quiet icon-only"
      type="button"
      aria-label={label}
      title={`${label} (${sign})`}
      onClick={onClick}
    >
      {sign}
    </button>
  );
}

function forKey(event: KeyboardEvent, span: Span, end: number): Span | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (event.key === "+" || event.key === "=") return zoom(span, 2, 0.5, end);
  if (event.key === "-") return zoom(span, 0.5, 0.5, end);
  if (event.key === "0") return { from: 0, to: end };
  if (event.key === "ArrowLeft") return pan(span, -0.25, end);
  return event.key === "ArrowRight" ? pan(span, 0.25, end) : undefined;
}

function NoTrace({ level, isLive }: { readonly level: string | undefined; readonly isLive: boolean }) {
  return (
    <div class="empty">
      <p>{isLive ? "Nothing has happened yet." : "This run has no trace."}</p>
      {!isLive && (
        <p>
          {level === "off" || level === undefined
            ? "Set traces: timings in the config to keep one of each run."
            : "It was made before traces were kept, or while they were off."}{" "}
          <a href={linkTo("system")}>See the system</a>
        </p>
      )}
    </div>
  );
}
