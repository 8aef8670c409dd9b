// The memory of a server under a load that goes on: plain, stored, long and streamed requests, with peaks and pauses.
import { setTimeout as sleep } from "node:timers/promises";
import { type LoadProcess, startLoad } from "../processes.ts";
import { median } from "../statistics.ts";
import { addTool, longRequest, serverTools } from "./request-bodies.ts";
import { sqlite } from "./server-contenders.ts";

export interface MemoryOptions {
  readonly modelUrl: string;
  readonly minutes: number;
  readonly onMinute: (text: string) => void;
}

export interface MemoryOverTime {
  readonly requests: number;
  /** Resident bytes at the end of each minute, as they were: nothing was collected for it. */
  readonly bytesByMinute: readonly number[];
}

/** A round of the load begins this often, so that there are pauses too. */
const roundMs = 10_000;

export async function measureMemoryOverTime(options: MemoryOptions): Promise<MemoryOverTime> {
  await using server = await sqlite.start(options.modelUrl);
  using load = startLoad();
  const url = `${server.url}/responses`;
  const bytesByMinute: number[] = [];
  let requests = 0;
  const start = performance.now();
  for (let round = 0; bytesByMinute.length < options.minutes; round++) {
    requests += await loadOnce(load, url);
    await sleep(start + (round + 1) * roundMs - performance.now());
    const minute = bytesByMinute.length + 1;
    if (performance.now() - start < minute * 60_000) continue;
    bytesByMinute.push(await server.residentBytes());
    const megabytes = Math.round((bytesByMinute.at(-1) ?? 0) / 1e6);
    options.onMinute(`minute ${minute}: ${megabytes} MB after ${requests} requests`);
  }
  return { requests, bytesByMinute };
}

/** Every kind of request once; gives their number. */
async function loadOnce(load: LoadProcess, url: string): Promise<number> {
  const streamed = { model: "bench", ...sqlite.streamBody };
  const kinds = [
    { count: 500, body: { input: "stream 16", store: true } },
    { count: 300, body: { input: "stream 16", store: false } },
    { count: 100, body: { ...longRequest, store: true } },
    { count: 50, body: { input: "loop 1", tools: [serverTools], store: true } },
  ];
  let requests = 0;
  for (const { count, body } of kinds) {
    await load.ask({ type: "requests", url, body: { model: "bench", ...body }, count, connections: 16 });
    requests += count;
  }
  const streams = [
    { count: 64, body: { ...streamed, input: "stream 300" } },
    { count: 16, body: { ...streamed, input: "think 1", tools: [addTool] } },
  ];
  for (const { count, body } of streams) {
    await load.ask({ type: "streams", url, body, count });
    requests += count;
  }
  return requests;
}

/** How the memory of the second half of the time compares with that of the first. */
export function memoryReport({ requests, bytesByMinute }: MemoryOverTime): string {
  const megabytes = bytesByMinute.map((bytes) => Math.round(bytes / 1e6));
  const half = Math.ceil(megabytes.length / 2);
  const part = (values: readonly number[]) =>
    values.length === 0
      ? "not measured"
      : `${Math.min(...values)} to ${Math.max(...values)} MB, median ${Math.round(median(values))} MB`;
  return `${requests} requests in ${megabytes.length} minutes, with SQLite
first half:  ${part(megabytes.slice(0, half))}
second half: ${part(megabytes.slice(half))}
by minute:   ${megabytes.join(" ")}`;
}
