// One figure over time. The text beside it says the same for those who do not see the lines.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { SystemSample } from "../api/inspect-types.ts";
import { formatTime } from "../ui/format.ts";
import { columnsOf, type Figure } from "./figures.ts";

export interface PlotProps {
  readonly figure: Figure;
  readonly samples: readonly SystemSample[];
}

// All plots show the same moment under the pointer.
const cursors = uPlot.sync("system");

export function Plot({ figure, samples }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const pointed = useSignal<number | null>(null);
  const columns = columnsOf(figure, samples);
  const latest = useRef(columns);
  latest.current = columns;

  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const draw = () => {
      plot.current?.destroy();
      plot.current = drawPlot(element, figure, latest.current, (index) => {
        pointed.value = index;
      });
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)));
    resized.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      scheme.removeEventListener("change", draw);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [figure]);
  useEffect(() => {
    plot.current?.setData(columns as uPlot.AlignedData);
  }, [samples]);

  const index = Math.min(pointed.value ?? samples.length - 1, samples.length - 1);
  const atMs = pointed.value === null ? undefined : samples[index]?.at_ms;
  return (
    <figure class="card plot">
      <figcaption>
        <h3>{figure.title}</h3>
        <span class="soft number">{atMs === undefined ? "now" : formatTime(atMs)}</span>
      </figcaption>
      <dl class="plot-values">
        {figure.lines.map(({ name, colour }, line) => (
          <div key={name}>
            <dt style={{ "--line-colour": `var(${colour})` }}>{name}</dt>
            <dd class="number">{valueText(figure, columns[line + 1]?.[index])}</dd>
          </div>
        ))}
      </dl>
      <div class="plot-frame" ref={frame} aria-hidden="true" />
    </figure>
  );
}

function valueText({ format }: Figure, value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : format(value);
}

function drawPlot(
  element: HTMLElement,
  { lines, format, isWhole }: Figure,
  columns: (number | null)[][],
  onPoint: (index: number | null) => void,
): uPlot {
  const ink = colourOf(element, "--ink-soft");
  const grid = { stroke: colourOf(element, "--line"), width: 1 };
  const font = `${getComputedStyle(element).fontSize} ${getComputedStyle(element).fontFamily}`;
  return new uPlot(
    {
      ...sizeOf(element),
      padding: [8, 16, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: cursors.key }, drag: { x: false, y: false }, y: false, points: { size: 6 } },
      scales: {
        x: { range: (_, min, max) => [max - Math.min(Math.max(max - min, leastSeconds), mostSeconds), max] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
      },
      axes: [
        {
          stroke: ink,
          grid: { show: false },
          ticks: { show: false },
          font,
          size: 24,
          incrs: [30, 60, 300],
          space: 45,
          values: (_, splits) => splits.map(clock),
        },
        {
          stroke: ink,
          grid,
          ticks: { show: false },
          font,
          size: 58,
          space: 32,
          ...(isWhole && { incrs: wholeSteps }),
          values: (_, splits) => splits.map((value) => format(value)),
        },
      ],
      series: [
        {},
        ...lines.map(({ colour }) => ({
          stroke: colourOf(element, colour),
          width: 1.5,
          spanGaps: true,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    columns as uPlot.AlignedData,
    element,
  );
}

// What is shown grows until it is all that the server keeps.
const leastSeconds = 60;
const mostSeconds = 15 * 60;

/** 10:05, or 10:05:30 between two minutes. */
function clock(seconds: number): string {
  return new Date(seconds * 1_000).toTimeString().slice(0, seconds % 60 === 0 ? 5 : 8);
}

const wholeSteps = [1, 2, 5]
  .flatMap((step) => [step, step * 10, step * 100, step * 1_000, step * 10_000])
  .toSorted((a, b) => a - b);

function sizeOf({ clientWidth: width, clientHeight: height }: HTMLElement) {
  return { width, height };
}

/** The colour as it is now, light or dark: a canvas does not know variables. */
function colourOf(element: HTMLElement, name: string): string {
  const before = element.style.color;
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}
