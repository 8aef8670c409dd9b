// The figures of PostgreSQL and of several nodes as tables.
import type { NodesFigures } from "../postgres/measure-nodes.ts";
import type { ServerFigures, ServerResults } from "../server/measure-server.ts";
import { median, medianRatio } from "../statistics.ts";
import { figure, table } from "./table.ts";

const rows: readonly (readonly [
  name: string,
  figure: Exclude<keyof ServerFigures, "chainedUs">,
  unit: string,
])[] = [
  ["CPU of the server per streamed chunk, 64 streams, a chunk every 5 ms", "pacedChunkUs", "µs"],
  ["the same from a model that is faster than the server", "fastChunkUs", "µs"],
  ["CPU of the server per plain request", "requestUs", "µs"],
  ["plain requests per second, 64 connections", "requestsPerSecond", ""],
  ["p99 latency of these", "p99Ms", "ms"],
  ["added time to the first token", "firstTokenMs", "ms"],
];

export function postgresServerReport(results: ServerResults): string {
  const sqlite = results.get("rondo, SQLite");
  const postgres = results.get("rondo, PostgreSQL");
  return table([
    ["one node", "SQLite", "PostgreSQL", "ratio"],
    ...rows.map(([name, key, unit]) => {
      const [left = [], right = []] = [sqlite?.[key], postgres?.[key]];
      const cell = (values: readonly number[]) => `${figure(median(values))} ${unit}`.trim();
      return [name, cell(left), cell(right), figure(medianRatio(right, left))];
    }),
  ]);
}

export function nodesReport({ throughput, delays, followers, followerBytes, work }: NodesFigures): string {
  const reached = (value: number, target: number) =>
    `${figure(value)} ms (≤ ${target}: ${value <= target ? "reached" : "missed"})`;
  const delayRow = (
    name: string,
    { medianMs, p99Ms, count }: NodesFigures["delays"]["same"],
    hasTarget: boolean,
  ) => [
    name,
    hasTarget ? reached(medianMs, 10) : `${figure(medianMs)} ms`,
    hasTarget ? reached(p99Ms, 50) : `${figure(p99Ms)} ms`,
    figure(count),
  ];
  return `### Several nodes

All nodes, the load generators, the model and PostgreSQL share this machine's cores, so that more nodes cannot make it faster here: the table shows what they cost.

${table([
  ["nodes", "plain requests per second", "p99 of these", "streamed chunks per second, background"],
  ...[...throughput].map(([count, it]) => [
    String(count),
    figure(it.requestsPerSecond),
    `${figure(it.p99Ms)} ms`,
    figure(it.chunksPerSecond),
  ]),
])}

### From a run to its followers

From the moment the model sends a chunk to the moment a client has it: through the node that works (which collects for 5 ms and commits), and on to a follower. The difference between the first two rows is what another node adds.

${table([
  ["a chunk every 20 ms", "median", "p99", "events"],
  delayRow("follower on the node that works", delays.same, false),
  delayRow("follower on another node", delays.other, true),
  delayRow(`${figure(followers)} followers on another node`, delays.many, false),
])}

Memory of the node per follower, with ${figure(followers)} of them: ${figure(followerBytes / 1000)} KB.

### The work of the database

${table([
  ["", "rows", "WAL", "transactions", "rows per chunk", "WAL per chunk", "transactions per chunk"],
  ...work.map(({ name, runs, chunks, rows: count, walBytes, transactions }) => [
    `${name}, per run`,
    figure(count / runs),
    `${figure(walBytes / runs)} B`,
    figure(transactions / runs),
    chunks > 0 ? figure(count / chunks) : "",
    chunks > 0 ? `${figure(walBytes / chunks)} B` : "",
    chunks > 0 ? figure(transactions / chunks) : "",
  ]),
])}

Each call of a store is one transaction and one round trip; the commits of runs that write at the same time share one. What the nodes do without any runs is left out.`;
}
