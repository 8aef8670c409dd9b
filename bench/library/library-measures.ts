// What is measured of the library, whom it is measured against, and what is to be reached.

export interface LibraryMeasure {
  readonly name: string;
  /** What the model server is asked; see model/model-server.ts. */
  readonly prompt: string;
  /** How many at once; 0 for the time to the first answer of a new process. */
  readonly count: number;
  /** How often in one process: short ones would be lost in the noise. */
  readonly rounds: number;
  /** By how many chunks, turns, calls or runs the figure is divided. */
  readonly per: number;
  readonly unit: "µs" | "ms";
  /** The ratio to the floor that is to be reached. */
  readonly target: number;
  /** Left out with `--quick` for peers: it takes them long. */
  readonly isLong?: boolean;
}

export const libraryMeasures: readonly LibraryMeasure[] = [
  {
    name: "a streamed chunk, 20,000 chunks",
    prompt: "stream 20000",
    count: 1,
    rounds: 1,
    per: 20_000,
    unit: "µs",
    target: 1,
  },
  {
    name: "the same from a model that is faster than its client",
    prompt: "burst 20000",
    count: 1,
    rounds: 1,
    per: 20_000,
    unit: "µs",
    target: 1,
  },
  {
    name: "a turn of a 50-turn tool loop",
    prompt: "loop 50",
    count: 1,
    rounds: 2,
    per: 51,
    unit: "µs",
    target: 1,
  },
  {
    name: "a turn of a 200-turn tool loop",
    prompt: "loop 200",
    count: 1,
    rounds: 1,
    per: 201,
    unit: "µs",
    target: 1,
    isLong: true,
  },
  {
    name: "100 parallel calls in one turn",
    prompt: "parallel 100",
    count: 1,
    rounds: 5,
    per: 1,
    unit: "ms",
    target: 1,
  },
  {
    name: "500 concurrent runs of 2 turns",
    prompt: "loop 1",
    count: 500,
    rounds: 1,
    per: 1,
    unit: "ms",
    target: 0.8,
    isLong: true,
  },
  {
    name: "cold start to the first answer (time)",
    prompt: "stream 1",
    count: 0,
    rounds: 1,
    per: 1,
    unit: "ms",
    target: 1.3,
  },
];

export interface LibraryContender {
  readonly name: string;
  readonly file: string;
  readonly isPeer: boolean;
}

/** The measures whose answers are long enough to ask in how many pieces they come. */
export function isStream({ prompt }: LibraryMeasure): boolean {
  return prompt.endsWith("20000");
}

export const floorName = "fetch";
export const ourName = "rondo";

/** The floor is the first. */
export const libraryContenders: readonly LibraryContender[] = [
  { name: floorName, file: "library/plain-fetch.mjs", isPeer: false },
  { name: "node:http", file: "library/plain-http.mjs", isPeer: false },
  { name: ourName, file: "library/rondo.mjs", isPeer: false },
  { name: "openai", file: "peers/openai.mjs", isPeer: true },
  { name: "ai", file: "peers/ai.mjs", isPeer: true },
  { name: "agents", file: "peers/agents.mjs", isPeer: true },
  { name: "langchain", file: "peers/langchain.mjs", isPeer: true },
  { name: "mastra", file: "peers/mastra.mjs", isPeer: true },
];
