// Measures several nodes on one PostgreSQL: throughput, the delay between nodes, and what the database does.
import { type ServerProcess, startLoad } from "../processes.ts";
import { startRondo } from "../server/server-contenders.ts";
import { median, percentile } from "../statistics.ts";
import type { BenchDatabase, DatabaseWork } from "./database.ts";

export interface NodesFigures {
  /** By the number of nodes. */
  readonly throughput: ReadonlyMap<number, Throughput>;
  /** From the model to a follower: on the node that works, on another one, and on another one with many followers. */
  readonly delays: Readonly<Record<"same" | "other" | "many", Delay>>;
  readonly followers: number;
  /** Memory of each of many followers. */
  readonly followerBytes: number;
  readonly work: readonly RunWork[];
}

interface Throughput {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Chunks of background runs. */
  readonly chunksPerSecond: number;
}

interface Delay {
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly count: number;
}

/** What the database did for some runs. */
export interface RunWork extends DatabaseWork {
  readonly name: string;
  readonly runs: number;
  readonly chunks: number;
}

export interface NodesSizes {
  readonly requests: number;
  readonly streams: number;
  readonly chunks: number;
  readonly ticks: number;
  readonly followers: number;
}

export interface NodesOptions {
  readonly database: BenchDatabase;
  readonly modelUrl: string;
  readonly sizes: NodesSizes;
  readonly onProgress: (text: string) => void;
}

/** So many that what the nodes do without them does not matter. */
const aloneRuns = 10;

export async function measureNodes(options: NodesOptions): Promise<NodesFigures> {
  const { onProgress, sizes } = options;
  const throughput = new Map<number, Throughput>();
  for (const count of [1, 2, 3]) {
    onProgress(`${count} nodes`);
    throughput.set(count, await measureThroughput(options, count));
  }
  onProgress("delays");
  const { delays, followerBytes } = await measureDelays(options);
  onProgress("work of the database");
  const work = await measureWork(options);
  return { throughput, delays, followers: sizes.followers, followerBytes, work };
}

async function measureThroughput(
  { database, modelUrl, sizes }: NodesOptions,
  count: number,
): Promise<Throughput> {
  const store = await database.create();
  await using stack = new AsyncDisposableStack();
  const nodes: ServerProcess[] = [];
  for (let index = 0; index < count; index++) nodes.push(stack.use(await startRondo(modelUrl, store)));
  const loads = nodes.map(() => stack.use(startLoad()));
  const all = async (type: "requests" | "streams", amount: number, input: string) => {
    const start = performance.now();
    const results = await Promise.all(
      nodes.map(({ url }, index) => {
        const share = Math.ceil(amount / count);
        const target = `${url}/responses`;
        const job =
          type === "requests"
            ? ({
                type,
                count: share,
                connections: Math.ceil(64 / count),
                body: { model: "bench", input },
              } as const)
            : ({
                type,
                count: share,
                body: { model: "bench", input, background: true, stream: true },
              } as const);
        const load = loads[index];
        if (!load) throw new Error("There is a load generator for each node.");
        return load.ask({ ...job, url: target });
      }),
    );
    return {
      seconds: (performance.now() - start) / 1000,
      timesMs: results.flatMap(({ timesMs }) => timesMs),
    };
  };
  await all("requests", sizes.requests / 10, "stream 16");
  const requests = await all("requests", sizes.requests, "stream 16");
  await all("streams", sizes.streams, "pace 20");
  const streams = await all("streams", sizes.streams, `pace ${sizes.chunks}`);
  return {
    requestsPerSecond: sizes.requests / requests.seconds,
    p99Ms: percentile(requests.timesMs, 0.99),
    chunksPerSecond: (sizes.streams * sizes.chunks) / streams.seconds,
  };
}

async function measureDelays({ database, modelUrl, sizes }: NodesOptions) {
  const store = await database.create();
  // Only one of them works.
  await using worker = await startRondo(modelUrl, store);
  await using other = await startRondo(modelUrl, store, ["--no-worker"]);
  using load = startLoad();
  const follow = async (node: ServerProcess, count: number, whileOpen = async () => {}): Promise<Delay> => {
    const body = { model: "bench", input: `clock ${sizes.ticks}`, background: true };
    const reply = await fetch(`${other.url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { id } = (await reply.json()) as { id: string };
    const asked = load.ask({ type: "follow", url: `${node.url}/responses/${id}?stream=true`, count });
    await new Promise((resolve) => setTimeout(resolve, sizes.ticks * 10));
    await whileOpen();
    const { timesMs } = await asked;
    return { medianMs: median(timesMs), p99Ms: percentile(timesMs, 0.99), count: timesMs.length };
  };
  await follow(worker, 4);
  const same = await follow(worker, 1);
  await follow(other, 4);
  const one = await follow(other, 1);
  await follow(other, sizes.followers / 10);
  const before = await other.rssBytes();
  let open = before;
  const many = await follow(other, sizes.followers, async () => {
    open = await other.rssBytes();
  });
  const followerBytes = (open - before) / sizes.followers;
  return { delays: { same, other: one, many }, followerBytes };
}

/** Runs whose answer comes in chunks, one at a time and many at once, and plain requests. */
async function measureWork({ database, modelUrl, sizes }: NodesOptions): Promise<RunWork[]> {
  const store = await database.create();
  await using server = await startRondo(modelUrl, store);
  using load = startLoad();
  const url = `${server.url}/responses`;
  const body = (input: string) => ({ model: "bench", input, background: true, stream: true });
  const streams = (count: number) =>
    load.ask({ type: "streams", url, count, body: body(`pace ${sizes.chunks}`) });
  await streams(4);
  const measure = async (name: string, runs: number, chunks: number, work: () => Promise<unknown>) => ({
    name,
    runs,
    chunks,
    ...(await database.workOf(store, async () => {
      await work();
    })),
  });
  const plain = { model: "bench", input: "stream 16" };
  return [
    await measure("background runs one by one", aloneRuns, aloneRuns * sizes.chunks, async () => {
      for (let run = 0; run < aloneRuns; run++) await streams(1);
    }),
    await measure(
      `${sizes.streams} background runs at once`,
      sizes.streams,
      sizes.streams * sizes.chunks,
      () => streams(sizes.streams),
    ),
    await measure("plain requests, 64 at once", sizes.requests, 0, () =>
      load.ask({ type: "requests", url, body: plain, count: sizes.requests, connections: 64 }),
    ),
  ];
}
