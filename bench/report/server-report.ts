// The server's figures as tables.
import type { ServerFigures, ServerResults, ServerSizes } from "../server/measure-server.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Figures } from "./compare.ts";
import { figure, type Row, table } from "./table.ts";

type Figure = Exclude<keyof ServerFigures, "chainedUs">;

/** Figures reported for others when the targets were set. */
type Reported = readonly [responsesJs: string, antwort: string];

interface Line {
  readonly name: string;
  readonly figure: Figure;
  readonly unit: string;
  /** Converts the figure to its unit. */
  readonly divisor?: number;
  readonly isRatio: boolean;
  readonly isHigherBetter?: boolean;
  /** With the store off, and with SQLite; optional. */
  readonly targets: readonly [storeOff: number, sqlite: number | undefined];
  readonly reported: Reported;
}

const lines: readonly Line[] = [
  {
    name: "CPU per streamed chunk, 64 streams, a chunk every 5 ms",
    figure: "pacedChunkUs",
    unit: "µs",
    isRatio: true,
    targets: [1.2, 1.5],
    reported: ["7", "4.2"],
  },
  {
    name: "the same from a model that is faster than the server",
    figure: "fastChunkUs",
    unit: "µs",
    isRatio: true,
    targets: [1.2, 1.5],
    reported: ["", ""],
  },
  {
    name: "the same with chunks of 1 to 200 characters",
    figure: "mixedChunkUs",
    unit: "µs",
    isRatio: true,
    targets: [1.2, 1.5],
    reported: ["", ""],
  },
  {
    name: "CPU per streamed answer with thinking and two calls",
    figure: "thinkingUs",
    unit: "µs",
    isRatio: true,
    targets: [1.6, 2.4],
    reported: ["", ""],
  },
  {
    name: "CPU per plain request",
    figure: "requestUs",
    unit: "µs",
    isRatio: true,
    targets: [1.6, 2.4],
    reported: ["11", "1.7"],
  },
  {
    name: "the same for the first requests of a process",
    figure: "firstRequestUs",
    unit: "µs",
    isRatio: true,
    targets: [1.6, 2.4],
    reported: ["", ""],
  },
  {
    name: "the same with 40 items and 20 tools",
    figure: "longRequestUs",
    unit: "µs",
    isRatio: true,
    targets: [1.6, 2.4],
    reported: ["", ""],
  },
  {
    name: "the same with a call of the server's tool: two answers and a turn",
    figure: "toolRequestUs",
    unit: "µs",
    isRatio: true,
    targets: [2, 2],
    reported: ["", ""],
  },
  {
    name: "plain requests per second, 64 connections",
    figure: "requestsPerSecond",
    unit: "",
    isRatio: true,
    isHigherBetter: true,
    targets: [0.65, 0.5],
    reported: ["0.12", "0.57"],
  },
  {
    name: "p99 latency of these",
    figure: "p99Ms",
    unit: "ms",
    isRatio: true,
    targets: [2.5, 3],
    reported: ["2 s", "0.1 s"],
  },
  {
    name: "added time to the first token",
    figure: "firstTokenMs",
    unit: "ms",
    isRatio: false,
    targets: [0.5, 0.8],
    reported: ["10 ms", "2.9 ms"],
  },
  {
    name: "memory per stream, 1,000 open",
    figure: "streamBytes",
    unit: "KB",
    divisor: 1000,
    isRatio: false,
    targets: [60, 60],
    reported: ["", ""],
  },
  {
    name: "memory per stream, 10,000 open, or as many as the system allows",
    figure: "manyStreamBytes",
    unit: "KB",
    divisor: 1000,
    isRatio: false,
    targets: [60, 60],
    reported: ["", ""],
  },
  {
    name: "resident memory after these requests",
    figure: "residentBytes",
    unit: "MB",
    divisor: 1_000_000,
    isRatio: false,
    targets: [150, 150],
    reported: ["", ""],
  },
];

export function serverReport(results: ServerResults, sizes: ServerSizes): string {
  const head = ["", "floor", "rondo, store off", "", "rondo, SQLite", "", "responses.js *", "antwort *"];
  return `${table([head, ...lines.map((line) => row(line, results))])}

\\* Reported when the targets were set, not measured here: neither can be installed from the registry.

The CPU of chunks is measured after as many others, that of answers and requests after ${count(sizes.requests)} of their kind, and the time to the first token after ${count(sizes.requests / 2)}, because a server runs for months: by then V8 has compiled what they run. The row of the first requests has what that costs; each process pays it once.

The memory of streams is that of processes that have answered 1,000 requests before. A new process also grows its young generation meanwhile, once, by up to 40 MB.

Events per chunk that the client received (chunks that arrive together may be one event):

${table([
  ["", "floor", "rondo, store off", "rondo, SQLite"],
  ["a chunk every 5 ms", ...shares(results, "pacedEventShare")],
  ["a model that is faster than the server", ...shares(results, "fastEventShare")],
])}

CPU of the next response in a conversation. With rondo the client sends one message and \`previous_response_id\`, and the server reads the rest from SQLite; the floor stores nothing, and its client sends the whole conversation each time. Both were warmed up with ${count(sizes.requests)} short requests and some of the same length:

${table([
  ["stored responses", "their bytes", "floor", "rondo, SQLite", "ratio"],
  ...sizes.storedResponses.map((stored) => chainRow(stored, results)),
])}`;
}

/** The figures by which runs can be compared, by the names of their rows. */
export function serverFigures(results: ServerResults): Figures {
  const floor = results.get("floor");
  return Object.fromEntries(
    lines.flatMap((line) =>
      (["rondo, store off", "rondo, SQLite"] as const).map((name) => {
        const values = results.get(name)?.[line.figure] ?? [];
        const value = line.isRatio ? medianRatio(values, floor?.[line.figure] ?? []) : median(values);
        return [`${line.name} (${name})`, { value, isHigherBetter: line.isHigherBetter ?? false }];
      }),
    ),
  );
}

function row(line: Line, results: ServerResults): Row {
  const floor = results.get("floor")?.[line.figure] ?? [];
  const cells = (["rondo, store off", "rondo, SQLite"] as const).flatMap((name, i) => {
    const values = results.get(name)?.[line.figure] ?? [];
    const value = line.isRatio ? medianRatio(values, floor) : median(values) / (line.divisor ?? 1);
    return [line.isRatio ? figure(value) : withUnit(value, line), verdict(value, line.targets[i], line)];
  });
  return [line.name, withUnit(median(floor) / (line.divisor ?? 1), line), ...cells, ...line.reported];
}

function verdict(value: number, target: number | undefined, { isHigherBetter = false }: Line): string {
  if (target === undefined || Number.isNaN(value)) return "";
  const isReached = isHigherBetter ? value >= target : value <= target;
  return `${isHigherBetter ? "≥" : "≤"} ${target}: ${isReached ? "reached" : "missed"}`;
}

function withUnit(value: number, { unit }: Line): string {
  return Number.isNaN(value) ? "" : `${figure(value)} ${unit}`.trim();
}

function shares(results: ServerResults, name: "pacedEventShare" | "fastEventShare"): string[] {
  return [...results.values()].map((figures) => figure(median(figures[name])));
}

function chainRow(stored: number, results: ServerResults): Row {
  const floor = results.get("floor")?.chainedUs.get(stored) ?? [];
  const ours = results.get("rondo, SQLite")?.chainedUs.get(stored) ?? [];
  const micro = (values: readonly number[]) => `${figure(median(values))} µs`;
  return [
    String(stored),
    figure(stored * exchangeBytes),
    micro(floor),
    micro(ours),
    figure(medianRatio(ours, floor)),
  ];
}

function count(value: number): string {
  return value.toLocaleString("en");
}

/** Of a prompt and an answer, as the model receives them. */
const exchangeBytes = 240;
