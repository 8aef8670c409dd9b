// What the plots show: figures of the samples, and how they are written.

import type { SystemSample } from "../api/inspect-types.ts";
import { formatBytes, formatDuration, formatNumber } from "../ui/format.ts";

export interface Line {
  readonly name: string;
  /** A colour of tokens.css. */
  readonly colour: string;
  /** `seconds` is how long the sample stands for. */
  readonly value: (sample: SystemSample, seconds: number) => number | null;
}

export interface Figure {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Whether there are only whole numbers. Default: false. */
  readonly isWhole?: boolean;
}

const count = (value: number) => formatNumber(Math.round(value * 10) / 10);

export const figures: readonly Figure[] = [
  {
    title: "Requests a second",
    lines: [{ name: "requests", colour: "--accent", value: ({ requests }, seconds) => requests / seconds }],
    format: count,
  },
  {
    title: "Tokens a second",
    lines: [
      {
        name: "generated",
        colour: "--time-generation",
        value: (sample, seconds) => sample.output_tokens / seconds,
      },
      { name: "prompt", colour: "--time-prompt", value: (sample, seconds) => sample.input_tokens / seconds },
    ],
    format: count,
  },
  {
    title: "Time to the first token",
    lines: [{ name: "median", colour: "--time-prompt", value: (sample) => sample.first_token_ms }],
    format: formatDuration,
  },
  {
    title: "Queue",
    lines: [
      { name: "running", colour: "--time-tool", value: ({ running }) => running },
      { name: "queued", colour: "--time-slot", value: ({ queued }) => queued },
    ],
    format: count,
    isWhole: true,
  },
  {
    title: "Open streams",
    lines: [{ name: "streams", colour: "--accent", value: ({ streams }) => streams }],
    format: count,
    isWhole: true,
  },
  {
    title: "Memory",
    lines: [
      { name: "total", colour: "--time-store", value: (sample) => sample.rss_bytes },
      { name: "heap", colour: "--time-queue", value: (sample) => sample.heap_bytes },
    ],
    format: (bytes) => formatBytes(Math.round(bytes / 1_000_000) * 1_000_000),
  },
  {
    title: "Event-loop delay",
    lines: [{ name: "delay", colour: "--time-slot", value: (sample) => sample.event_loop_ms }],
    format: formatDuration,
  },
];

const defaultSeconds = 2;

/** The columns of a plot: times in seconds, then one list for each line. */
export function columnsOf({ lines }: Figure, samples: readonly SystemSample[]): (number | null)[][] {
  const seconds = samples.map(({ at_ms: atMs }, index) => {
    const before = samples[index - 1];
    return before ? Math.max((atMs - before.at_ms) / 1_000, 0.001) : defaultSeconds;
  });
  return [
    samples.map(({ at_ms: atMs }) => atMs / 1_000),
    ...lines.map((line) =>
      samples.map((sample, index) => line.value(sample, seconds[index] ?? defaultSeconds)),
    ),
  ];
}

/** Joins new samples to those that are known, and drops what is older than the plots show. */
export function joinSamples(
  known: readonly SystemSample[],
  added: readonly SystemSample[],
): readonly SystemSample[] {
  const last = known.at(-1)?.at_ms ?? 0;
  const all = [...known, ...added.filter(({ at_ms: atMs }) => atMs > last)];
  const newest = all.at(-1)?.at_ms ?? 0;
  return all.filter(({ at_ms: atMs }) => atMs > newest - keptMs).slice(-sampleLimit);
}

const keptMs = 15 * 60_000;
const sampleLimit = 1_000;
