// The waterfall: a lane for each answer and each tool's turn, with bars by their time.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatDuration } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Cell, gridRoles } from "../../ui/list-cell.tsx";
import { type ListHandle, VirtualList } from "../../ui/virtual-list.tsx";
import type { Lane, Mark } from "../trace/lane-book.ts";
import { pan, placeBars, type Span, ticks, zoom } from "../trace/scale.ts";
import { kindWords } from "./legend.tsx";

export interface WaterfallProps {
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
  readonly span: Span;
  readonly end: number;
  readonly selected: string | undefined;
  readonly onSelect: (lane: string) => void;
  readonly onSpan: (span: Span) => void;
  readonly isLive: boolean;
}

/** As in run.css. */
const rowHeight = 30;
const pixelsPerTick = 90;

export function Waterfall({ lanes, marks, span, end, selected, onSelect, onSpan, isLive }: WaterfallProps) {
  const box = useRef<HTMLDivElement>(null);
  const pixels = useSignal(600);
  const handle = useRef<ListHandle | null>(null);
  useEffect(() => {
    // One that was selected by its item may be far away.
    if (selected !== undefined) handle.current?.show(selected);
  }, [selected]);
  const latest = useRef({ span, end, onSpan });
  latest.current = { span, end, onSpan };
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const track = () => element.querySelector(".axis")?.getBoundingClientRect();
    const measure = new ResizeObserver(() => {
      pixels.value = track()?.width ?? pixels.peek();
    });
    measure.observe(element);
    // The browser would zoom the page: only a listener that is not passive can keep it from that.
    const wheel = (event: WheelEvent) => {
      const { span: from, end: to, onSpan: set } = latest.current;
      const at = track();
      if (!at) return;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const share = Math.min(1, Math.max(0, (event.clientX - at.left) / at.width));
        set(zoom(from, Math.exp(-event.deltaY / 200), share, to));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        set(pan(from, (event.deltaX || event.deltaY) / at.width, to));
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      measure.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);
  const length = span.to - span.from;
  const inView = marks.filter(({ at }) => at >= span.from && at <= span.to);
  const lines = inView.filter(({ kind }) => kind === "resumed" || kind === "failed");
  return (
    <div class="waterfall-box" ref={box}>
      <VirtualList
        class="waterfall"
        label="Timeline"
        handle={handle}
        rows={lanes}
        keyOf={({ id }) => id}
        rowHeight={rowHeight}
        inputs={[span.from, span.to, pixels.value, lines.length]}
        activeKey={selected}
        onMove={({ id }) => onSelect(id)}
        onOpen={({ id }) => onSelect(id)}
        {...(isLive && { follows: "end" as const })}
        header={<Axis span={span} pixels={pixels.value} marks={inView} />}
        render={(lane) => (
          <LaneRow
            lane={lane}
            span={span}
            pixels={pixels.value}
            lines={lines.map(({ at }) => (at - span.from) / length)}
          />
        )}
      />
    </div>
  );
}

interface AxisProps {
  readonly span: Span;
  readonly pixels: number;
  readonly marks: readonly Mark[];
}

function Axis({ span, pixels, marks }: AxisProps) {
  const length = span.to - span.from;
  const left = (at: number) => `${((at - span.from) / length) * 100}%`;
  const column = "columnheader" as const;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is row
    <div class="lane axis-row" role={gridRoles.row} aria-rowindex={1}>
      <div class="lane-label" role={column}>
        Lane
      </div>
      <div class="axis" role={column}>
        <span class="visually-hidden">Time</span>
        {ticks(span, Math.max(2, pixels / pixelsPerTick)).map((at) => (
          <span key={at} class="tick number" style={{ left: left(at) }}>
            {formatDuration(at)}
          </span>
        ))}
        {marks.map(({ id, at, kind, label }) => (
          <span
            key={id}
            class={`mark ${kind}`}
            style={{ left: left(at) }}
            title={`${formatDuration(at)}: ${label}`}
          >
            <span class="visually-hidden">{label}</span>
          </span>
        ))}
      </div>
    </div>
  );
}

interface LaneRowProps {
  readonly lane: Lane;
  readonly span: Span;
  readonly pixels: number;
  /** Moments that go through all lanes, from 0 to 1. */
  readonly lines: readonly number[];
}

function LaneRow({ lane, span, pixels, lines }: LaneRowProps) {
  const { label, kind, bars, doubts, error } = lane;
  const total = bars.reduce((sum, { from, to }) => sum + to - from, 0);
  const words = bars
    .slice(0, 8)
    .map(
      (bar) => `${kindWords[bar.kind]} ${formatDuration(bar.to - bar.from)}${bar.isOpen ? ", goes on" : ""}`,
    );
  return (
    <div class="lane" role="presentation">
      <Cell class={`lane-label ${kind}`}>
        <span class="one-line">{label}</span>
        {doubts.length > 0 && (
          <span class="lane-doubt" title={`Doubtful: ${doubts.join(", ")}`}>
            <Icon name="warning" />
            <span class="visually-hidden">Doubtful: {doubts.join(", ")}</span>
          </span>
        )}
        <span class={`number lane-time ${error === undefined ? "soft" : "lane-error"}`}>
          {formatDuration(total)}
        </span>
      </Cell>
      <Cell class="track">
        <span class="visually-hidden">{words.join("; ")}</span>
        {placeBars(bars, span, pixels).map(({ bar, left, width, count }) => (
          <span
            key={bar.id}
            class={`bar ${bar.kind} ${bar.error === undefined ? "" : "failed"} ${bar.isOpen ? "open" : ""}`}
            style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
            title={
              count > 1
                ? `${count} × ${kindWords[bar.kind]}`
                : `${kindWords[bar.kind]}: ${formatDuration(bar.to - bar.from)} from ${formatDuration(bar.from)}${bar.error === undefined ? "" : `\n${bar.error}`}`
            }
          />
        ))}
        {lines.map((left) => (
          <span key={left} class="track-line" style={{ left: `${left * 100}%` }} />
        ))}
      </Cell>
    </div>
  );
}
