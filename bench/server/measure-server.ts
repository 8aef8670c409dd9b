// Measures servers repeatedly, each in a new process, with the load generator and the model in separate processes.
import { type LoadProcess, type ServerProcess, startLoad } from "../processes.ts";
import { median, percentile } from "../statistics.ts";
import { addTool, longRequest, serverTools } from "./request-bodies.ts";
import {
  floor,
  type ServerContender,
  type ServerName,
  serverContenders,
  sqlite,
} from "./server-contenders.ts";

export interface ServerSizes {
  readonly rounds: number;
  readonly streams: number;
  readonly chunksPerStream: number;
  readonly connections: number;
  readonly requests: number;
  readonly firstTokens: number;
  readonly openStreams: number;
  /** The same once more, with many; 0 for not at all. */
  readonly manyOpenStreams: number;
  /** How many responses are stored when the next one is measured. */
  readonly storedResponses: readonly number[];
  readonly responsesMeasured: number;
}

/** One figure per repetition. */
export interface ServerFigures {
  /** For a model with a chunk every few milliseconds, and the number of events per chunk. */
  readonly pacedChunkUs: number[];
  readonly pacedEventShare: number[];
  /** The same for a model that is faster than the server: chunks that arrive together may be one event. */
  readonly fastChunkUs: number[];
  readonly fastEventShare: number[];
  /** For chunks of 1 to 200 characters. */
  readonly mixedChunkUs: number[];
  /** After as many others: what is run often is compiled by then. */
  readonly requestUs: number[];
  /** Those others: the first of a process. */
  readonly firstRequestUs: number[];
  readonly requestsPerSecond: number[];
  readonly p99Ms: number[];
  /** For a request of 40 items and 20 tools. */
  readonly longRequestUs: number[];
  /** For a request with one call of a tool of the server: two answers and a turn. */
  readonly toolRequestUs: number[];
  /** For a streamed answer with thinking and two calls of the client's. */
  readonly thinkingUs: number[];
  readonly firstTokenMs: number[];
  readonly streamBytes: number[];
  readonly manyStreamBytes: number[];
  /** Of the whole process, after all requests of a repetition. Nothing was collected for it. */
  readonly residentBytes: number[];
  /** By the number of stored responses. */
  readonly chainedUs: Map<number, number[]>;
}

export type ServerResults = ReadonlyMap<ServerName, ServerFigures>;

export interface ServerOptions {
  readonly modelUrl: string;
  readonly sizes: ServerSizes;
  readonly onProgress: (text: string) => void;
  /** Default: all that need no database. */
  readonly contenders?: readonly ServerContender[];
}

interface Parts extends ServerOptions {
  readonly contender: ServerContender;
  readonly figures: ServerFigures;
}

/** The model's text, repeated. */
const piece = " word";

/** Of typical length, so that conversations have a realistic size. */
const userMessage =
  "stream 16 and tell me something about the weather of the last few days in the mountains, please";

export async function measureServer(options: ServerOptions): Promise<ServerResults> {
  const { contenders = serverContenders } = options;
  const results = new Map(contenders.map(({ name }) => [name, emptyFigures()]));
  for (let round = 0; round < options.sizes.rounds; round++)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const figures = results.get(contender.name) ?? emptyFigures();
      const parts = { ...options, contender, figures };
      const tell = (what: string) =>
        options.onProgress(`server, round ${round + 1}: ${what}, ${contender.name}`);
      tell("streams and requests");
      await inProcesses(parts, measureLoad);
      tell("memory");
      await inProcesses(parts, measureMemory(options.sizes.openStreams, figures.streamBytes));
      if (round === 0 && options.sizes.manyOpenStreams > 0)
        await inProcesses(parts, measureMemory(options.sizes.manyOpenStreams, figures.manyStreamBytes));
      tell("long conversations");
      // Without a store there are no chains: the floor's client sends the whole conversation each time.
      if (contender === sqlite || contender.name === "rondo, PostgreSQL")
        await inProcesses(parts, measureChain);
      if (contender === floor) await inProcesses(parts, measureWholeConversations);
    }
  return results;
}

async function inProcesses(
  parts: Parts,
  measure: (parts: Parts, server: ServerProcess, load: LoadProcess) => Promise<void>,
): Promise<void> {
  await using server = await parts.contender.start(parts.modelUrl);
  using load = startLoad();
  await measure(parts, server, load);
}

async function measureLoad(parts: Parts, server: ServerProcess, load: LoadProcess): Promise<void> {
  const { contender, figures, sizes, modelUrl } = parts;
  const url = `${server.url}/responses`;
  const chunks = sizes.streams * sizes.chunksPerStream;
  const measureStreams = async (task: string) => {
    let eventShare = 0;
    const ask = (length: number) =>
      load.ask({
        type: "streams",
        url,
        body: { model: "bench", input: `${task} ${length}`, ...contender.streamBody },
        count: sizes.streams,
      });
    await ask(sizes.chunksPerStream); // warm-up
    const cpuMs = await cpuOf(server, async () => {
      const { deltas = 0, characters } = await ask(sizes.chunksPerStream);
      if (characters !== chunks * piece.length)
        throw new Error(`${contender.name} sent ${characters} characters instead of ${chunks} chunks.`);
      eventShare = deltas / chunks;
    });
    return { chunkUs: (cpuMs * 1000) / chunks, eventShare };
  };
  const cpuOfStreams = async (input: string, count: number, body: object = {}) => {
    const asked = { model: "bench", input, ...contender.streamBody, ...body };
    const ask = () => load.ask({ type: "streams", url, body: asked, count });
    await ask(); // warm-up
    return cpuOf(server, async () => void (await ask()));
  };
  const paced = await measureStreams("pace");
  figures.pacedChunkUs.push(paced.chunkUs);
  figures.pacedEventShare.push(paced.eventShare);
  const fast = await measureStreams("stream");
  figures.fastChunkUs.push(fast.chunkUs);
  figures.fastEventShare.push(fast.eventShare);
  const mixedChunks = sizes.chunksPerStream / 2;
  const mixedMs = await cpuOfStreams(`mixed ${mixedChunks}`, sizes.streams);
  figures.mixedChunkUs.push((mixedMs * 1000) / (mixedChunks * sizes.streams));

  const requests = (count: number, body: object = { input: "stream 16" }) =>
    load.ask({
      type: "requests",
      url,
      body: { model: "bench", ...contender.body, ...body },
      count,
      connections: sizes.connections,
    });
  const firstCpu = await cpuOf(server, async () => void (await requests(sizes.requests)));
  figures.firstRequestUs.push((firstCpu * 1000) / sizes.requests);
  const requestsCpu = await cpuOf(server, async () => {
    const { wallMs, timesMs } = await requests(sizes.requests);
    figures.requestsPerSecond.push((sizes.requests * 1000) / wallMs);
    figures.p99Ms.push(percentile(timesMs, 0.99));
  });
  figures.requestUs.push((requestsCpu * 1000) / sizes.requests);
  figures.residentBytes.push(await server.residentBytes());

  const fewer = Math.ceil(sizes.requests / 5);
  const cpuOfRequests = async (body: object) => {
    await requests(fewer, body); // warm-up
    return ((await cpuOf(server, async () => void (await requests(fewer, body)))) * 1000) / fewer;
  };
  figures.longRequestUs.push(await cpuOfRequests(longRequest));
  figures.toolRequestUs.push(await cpuOfRequests({ input: "loop 1", tools: [serverTools] }));
  const thinkingMs = await cpuOfStreams("think 1", Math.ceil(fewer / 2), { tools: [addTool] });
  figures.thinkingUs.push((thinkingMs * 1000) / Math.ceil(fewer / 2));

  const firstTokens = () =>
    load.ask({
      type: "first-token",
      url,
      body: { model: "bench", input: "stream 3", ...contender.body, stream: true },
      directUrl: `${modelUrl}/chat/completions`,
      directBody: { model: "bench", messages: [{ role: "user", content: "stream 3" }], stream: true },
      count: sizes.firstTokens,
    });
  await firstTokens(); // warm-up: with SQLite, the streams before it were background runs
  const { timesMs, directMs = [] } = await firstTokens();
  figures.firstTokenMs.push(median(timesMs) - median(directMs));
}

/** How many short requests warm a server up before the measurement. */
const warmUpRequests = 1000;

function measureMemory(count: number, figures: number[]) {
  return async ({ contender, sizes }: Parts, server: ServerProcess, load: LoadProcess): Promise<void> => {
    const url = `${server.url}/responses`;
    // A stream that is never ended would be a background run that continues.
    const body = { model: "bench", input: "hold", ...contender.body, stream: true };
    const hold = (streams: number) => load.ask({ type: "hold", url, body, count: streams });
    // A new process also grows its young generation meanwhile, once, which is not the streams' doing.
    const plain = { model: "bench", input: "stream 16", ...contender.body };
    const { connections } = sizes;
    await load.ask({ type: "requests", url, body: plain, count: warmUpRequests, connections });
    await hold(Math.ceil(count / 10));
    await load.ask({ type: "release" });
    const before = await server.rssBytes();
    await hold(count);
    figures.push(((await server.rssBytes()) - before) / count);
  };
}

/** The CPU time of the next response of a chain, by how many are stored. */
async function measureChain(parts: Parts, server: ServerProcess, load: LoadProcess): Promise<void> {
  const { contender, figures, sizes } = parts;
  const url = `${server.url}/responses`;
  const body = { model: "bench", input: userMessage, ...contender.body };
  const chain = async (count: number, previousId: string | undefined) =>
    (await load.ask({ type: "chain", url, body, count, previousId })).lastId;
  for (let i = 0; i < warmUpRequests / 10; i++) await chain(10, undefined);
  let trunk: string | undefined;
  let length = 0;
  for (const stored of sizes.storedResponses) {
    trunk = await chain(stored - 1 - length, trunk);
    length = stored - 1;
    // Each measured request continues a response that was never read before, as in practice.
    const tips: (string | undefined)[] = [];
    for (let i = 0; i < sizes.responsesMeasured; i++) tips.push(await chain(1, trunk));
    const cpuMs = await cpuOf(server, async () => {
      for (const tip of tips) await chain(1, tip);
    });
    addChained(figures, stored, (cpuMs * 1000) / sizes.responsesMeasured);
  }
}

async function measureWholeConversations(parts: Parts, server: ServerProcess, load: LoadProcess) {
  const { figures, sizes } = parts;
  const url = `${server.url}/responses`;
  const send = async (count: number, stored: number) => {
    const history = Array.from({ length: stored }, () => [
      { role: "user", content: userMessage },
      { role: "assistant", content: piece.repeat(16) },
    ]).flat();
    const body = { model: "bench", input: [...history, { role: "user", content: userMessage }] };
    for (let i = 0; i < count; i++)
      await load.ask({ type: "chain", url, body, count: 1, previousId: undefined });
  };
  await send(warmUpRequests, 1);
  for (const stored of sizes.storedResponses) {
    // As many as the others need to store the responses that they continue.
    await send(sizes.responsesMeasured, stored);
    const cpuMs = await cpuOf(server, () => send(sizes.responsesMeasured, stored));
    addChained(figures, stored, (cpuMs * 1000) / sizes.responsesMeasured);
  }
}

async function cpuOf(server: ServerProcess, work: () => Promise<void>): Promise<number> {
  const before = await server.cpuMs();
  await work();
  return (await server.cpuMs()) - before;
}

function addChained({ chainedUs }: ServerFigures, stored: number, microseconds: number): void {
  chainedUs.set(stored, [...(chainedUs.get(stored) ?? []), microseconds]);
}

function emptyFigures(): ServerFigures {
  return {
    pacedChunkUs: [],
    pacedEventShare: [],
    fastChunkUs: [],
    fastEventShare: [],
    mixedChunkUs: [],
    requestUs: [],
    firstRequestUs: [],
    requestsPerSecond: [],
    p99Ms: [],
    longRequestUs: [],
    toolRequestUs: [],
    thinkingUs: [],
    firstTokenMs: [],
    streamBytes: [],
    manyStreamBytes: [],
    residentBytes: [],
    chainedUs: new Map(),
  };
}
