// Measures servers repeatedly, each in a new process, with the load generator and the model in separate processes. They
// take turns: how fast a machine is can change within a minute.
import { type LoadProcess, type ServerProcess, startLoad } from "../processes.ts";
import { median, percentile } from "../statistics.ts";
import type { LoadResult } from "./load-messages.ts";
import { addTool, longRequest, serverTools } from "./request-bodies.ts";
import {
  floor,
  type ServerContender,
  type ServerName,
  serverContenders,
  storeOff,
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
  for (let round = 0; round < options.sizes.rounds; round++) {
    const ordered = round % 2 === 0 ? contenders : contenders.toReversed();
    const all = ordered.map((contender) => ({
      ...options,
      contender,
      figures: results.get(contender.name) ?? emptyFigures(),
    }));
    const tell = (what: string) => options.onProgress(`server, round ${round + 1}: ${what}`);
    await inTurns(all, measureLoad, tell);
    for (const parts of all) {
      const { contender, figures } = parts;
      tell(`memory, ${contender.name}`);
      await measureMemory(parts, options.sizes.openStreams, figures.streamBytes);
      if (round === 0 && options.sizes.manyOpenStreams > 0)
        await measureMemory(parts, options.sizes.manyOpenStreams, figures.manyStreamBytes);
    }
    // Without a store there are no chains: the floor's client sends the whole conversation each time.
    const chaining = all.filter(({ contender }) => contender !== storeOff);
    if (options.sizes.storedResponses.length > 0)
      await inTurns(
        chaining,
        (parts, ...processes) =>
          (parts.contender === floor ? measureWholeConversations : measureChain)(parts, ...processes),
        tell,
      );
  }
  return results;
}

/** Yields the name of what it measures after each turn. */
type Turns<Result = void> = AsyncGenerator<string, Result>;

/**
 * Measures all in turns of a second or so, each in its own process. A process that waits for longer begins to return
 * memory to the system, and drops compiled code.
 */
async function inTurns(
  all: readonly Parts[],
  measure: (parts: Parts, server: ServerProcess, load: LoadProcess) => Turns,
  tell: (what: string) => void,
): Promise<void> {
  await using processes = new AsyncDisposableStack();
  let going: Turns[] = [];
  for (const parts of all) {
    const server = processes.use(await parts.contender.start(parts.modelUrl));
    going.push(measure(parts, server, processes.use(startLoad())));
  }
  while (going.length > 0) {
    const left: Turns[] = [];
    for (const turns of going) {
      const { done, value } = await turns.next();
      if (done) continue;
      tell(value);
      left.push(turns);
    }
    going = left;
  }
}

/** The CPU time of so many turns. */
async function* cpuOfTurns(
  server: ServerProcess,
  name: string,
  turns: number,
  take: () => Promise<unknown>,
): Turns<number> {
  let cpuMs = 0;
  for (let turn = 0; turn < turns; turn++) {
    const before = await server.cpuMs();
    await take();
    cpuMs += (await server.cpuMs()) - before;
    yield name;
  }
  return cpuMs;
}

/** For measurements and warm-ups of many requests. */
const turnsOfMany = 10;

async function* measureLoad(parts: Parts, server: ServerProcess, load: LoadProcess): Turns {
  const { contender, figures, sizes, modelUrl } = parts;
  const url = `${server.url}/responses`;
  const chunks = sizes.streams * sizes.chunksPerStream;
  const cpuOf = (name: string, turns: number, take: () => Promise<unknown>) =>
    cpuOfTurns(server, name, turns, take);
  const streams = (count: number, body: object) =>
    load.ask({ type: "streams", url, body: { model: "bench", ...contender.streamBody, ...body }, count });
  const measureStreams = async function* (name: string, task: string): Turns<[us: number, share: number]> {
    let eventShare = 0;
    const ask = async () => {
      const { deltas = 0, characters } = await streams(sizes.streams, {
        input: `${task} ${sizes.chunksPerStream}`,
      });
      if (characters !== chunks * piece.length)
        throw new Error(`${contender.name} sent ${characters} characters instead of ${chunks} chunks.`);
      eventShare = deltas / chunks;
    };
    yield* cpuOf(name, 1, ask); // warm-up
    const cpuMs = yield* cpuOf(name, 1, ask);
    return [(cpuMs * 1000) / chunks, eventShare];
  };
  const [pacedUs, pacedShare] = yield* measureStreams("paced streams", "pace");
  figures.pacedChunkUs.push(pacedUs);
  figures.pacedEventShare.push(pacedShare);
  const [fastUs, fastShare] = yield* measureStreams("fast streams", "stream");
  figures.fastChunkUs.push(fastUs);
  figures.fastEventShare.push(fastShare);
  const mixedChunks = sizes.chunksPerStream / 2;
  const askMixed = () => streams(sizes.streams, { input: `mixed ${mixedChunks}` });
  yield* cpuOf("mixed streams", 1, askMixed); // warm-up
  const mixedMs = yield* cpuOf("mixed streams", 1, askMixed);
  figures.mixedChunkUs.push((mixedMs * 1000) / (mixedChunks * sizes.streams));

  const perTurn = sizes.requests / turnsOfMany;
  const requests = (body: object) =>
    load.ask({
      type: "requests",
      url,
      body: { model: "bench", ...contender.body, ...body },
      count: perTurn,
      connections: sizes.connections,
    });
  const plain = { input: "stream 16" };
  const firstMs = yield* cpuOf("first requests", turnsOfMany, () => requests(plain));
  figures.firstRequestUs.push((firstMs * 1000) / sizes.requests);
  const seen: LoadResult[] = [];
  const plainMs = yield* cpuOf("plain requests", turnsOfMany, async () => seen.push(await requests(plain)));
  figures.requestUs.push((plainMs * 1000) / sizes.requests);
  figures.requestsPerSecond.push((perTurn * 1000) / median(seen.map(({ wallMs }) => wallMs)));
  figures.p99Ms.push(
    percentile(
      seen.flatMap(({ timesMs }) => timesMs),
      0.99,
    ),
  );
  figures.residentBytes.push(await server.residentBytes());

  const fewTurns = 2;
  const measureRequests = async function* (name: string, body: object): Turns<number> {
    yield* cpuOf(name, turnsOfMany, () => requests(body)); // warm-up
    const cpuMs = yield* cpuOf(name, fewTurns, () => requests(body));
    return (cpuMs * 1000) / (fewTurns * perTurn);
  };
  figures.longRequestUs.push(yield* measureRequests("long requests", longRequest));
  const withTool = { input: "loop 1", tools: [serverTools] };
  figures.toolRequestUs.push(yield* measureRequests("requests with a tool", withTool));
  // They take so long that a turn has fewer: else the server closes connections that the client uses again.
  const perShare = perTurn / 4;
  const think = () => streams(perShare, { input: "think 1", tools: [addTool] });
  yield* cpuOf("thinking", sizes.requests / perShare, think); // warm-up
  const thinkingMs = yield* cpuOf("thinking", 4 * fewTurns, think);
  figures.thinkingUs.push((thinkingMs * 1000) / (fewTurns * perTurn));

  const firstTokens = (count: number) =>
    load.ask({
      type: "first-token",
      url,
      body: { model: "bench", input: "stream 3", ...contender.body, stream: true },
      directUrl: `${modelUrl}/chat/completions`,
      directBody: { model: "bench", messages: [{ role: "user", content: "stream 3" }], stream: true },
      count,
    });
  // Warm-up: with SQLite, the streams before it were background runs.
  yield* cpuOf("first tokens", turnsOfMany, () => firstTokens(perTurn / 2));
  const { timesMs, directMs = [] } = await firstTokens(sizes.firstTokens);
  figures.firstTokenMs.push(median(timesMs) - median(directMs));
}

/** How many short requests warm a server up before the measurement. */
const warmUpRequests = 1000;

async function measureMemory(parts: Parts, count: number, figures: number[]): Promise<void> {
  const { contender, sizes, modelUrl } = parts;
  await using server = await contender.start(modelUrl);
  using load = startLoad();
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
}

/** The CPU time of the next response of a chain, by how many are stored. */
async function* measureChain(parts: Parts, server: ServerProcess, load: LoadProcess): Turns {
  const { contender, figures, sizes } = parts;
  const url = `${server.url}/responses`;
  const body = { model: "bench", input: userMessage, ...contender.body };
  const chain = async (count: number, previousId: string | undefined) =>
    (await load.ask({ type: "chain", url, body, count, previousId })).lastId;
  yield* cpuOfTurns(server, "short conversations", turnsOfMany, async () => {
    for (let sent = 0; sent < sizes.requests / turnsOfMany; sent += 10) await chain(10, undefined);
  });
  let trunk: string | undefined;
  let length = 0;
  for (const stored of sizes.storedResponses) {
    const name = `conversations of ${stored}`;
    trunk = await chain(stored - 1 - length, trunk);
    length = stored - 1;
    // Each measured request continues a response that was never read before, as in practice.
    const tips: (string | undefined)[] = [];
    for (let i = 0; i < sizes.responsesMeasured; i++) tips.push(await chain(1, trunk));
    yield name;
    const cpuMs = yield* cpuOfTurns(server, name, 1, async () => {
      for (const tip of tips) await chain(1, tip);
    });
    addChained(figures, stored, (cpuMs * 1000) / sizes.responsesMeasured);
  }
}

async function* measureWholeConversations(parts: Parts, server: ServerProcess, load: LoadProcess): Turns {
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
  yield* cpuOfTurns(server, "short conversations", turnsOfMany, () => send(sizes.requests / turnsOfMany, 1));
  for (const stored of sizes.storedResponses) {
    const name = `conversations of ${stored}`;
    // As many as the others need to store the responses that they continue.
    await send(sizes.responsesMeasured, stored);
    yield name;
    const cpuMs = yield* cpuOfTurns(server, name, 1, () => send(sizes.responsesMeasured, stored));
    addChained(figures, stored, (cpuMs * 1000) / sizes.responsesMeasured);
  }
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
