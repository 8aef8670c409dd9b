// The measures of the library, its contenders, and the targets.

export interface LibraryMeasure {
  readonly name: string;
  /** The prompt for the model server; see model/model-server.ts. */
  readonly prompt: string;
  /** How many concurrent prompts; 0 for the time to the first answer of a new process, or for its import. */
  readonly count: number;
  /** How many times in one process: a single short one would be lost in the noise. */
  readonly rounds: number;
  /** The number of chunks, rounds, calls or runs that the figure is divided by. */
  readonly per: number;
  readonly unit: "µs" | "ms";
  /** The target ratio to the floor; a number of units for an import, for the floor has nothing to import. */
  readonly target: number;
  /** Skipped for peers with `--quick`, because it takes them long. */
  readonly isLong?: boolean;
  /** Whether each prompt comes with 20 tools and after 39 messages. Default: false, with one tool and alone. */
  readonly isLongRequest?: boolean;
}

export const libraryMeasures: readonly LibraryMeasure[] = [
  {
    name: "a streamed chunk, 20,000 chunks",
    prompt: "stream 20000",
    count: 1,
    rounds: 1,
    per: 20_000,
    unit: "µs",
    target: 0.6,
  },
  {
    name: "the same from a model that is faster than its client",
    prompt: "burst 20000",
    count: 1,
    rounds: 1,
    per: 20_000,
    unit: "µs",
    target: 0.6,
  },
  {
    name: "a chunk of 1 to 200 characters, 5,000 chunks",
    prompt: "mixed 5000",
    count: 1,
    rounds: 1,
    per: 5000,
    unit: "µs",
    target: 0.6,
    isLong: true,
  },
  {
    name: "a round of a 50-round tool loop",
    prompt: "loop 50",
    count: 1,
    rounds: 2,
    per: 51,
    unit: "µs",
    target: 0.5,
  },
  {
    name: "a round of a 200-round tool loop",
    prompt: "loop 200",
    count: 1,
    rounds: 1,
    per: 201,
    unit: "µs",
    target: 0.5,
    isLong: true,
  },
  {
    name: "a round with thinking and two calls, 30 rounds",
    prompt: "think 30",
    count: 1,
    rounds: 2,
    per: 31,
    unit: "µs",
    target: 0.5,
    isLong: true,
  },
  {
    name: "a request of 40 messages and 20 tools",
    prompt: "stream 3",
    count: 1,
    rounds: 50,
    per: 1,
    unit: "µs",
    target: 0.5,
    isLongRequest: true,
  },
  {
    name: "100 parallel calls in one round",
    prompt: "parallel 100",
    count: 1,
    rounds: 5,
    per: 1,
    unit: "ms",
    target: 1,
  },
  {
    name: "500 concurrent runs of 2 rounds",
    prompt: "loop 1",
    count: 500,
    rounds: 1,
    per: 1,
    unit: "ms",
    target: 0.6,
    isLong: true,
  },
  {
    name: "cold start to the first answer (time)",
    prompt: "stream 1",
    count: 0,
    rounds: 1,
    per: 1,
    unit: "ms",
    target: 0.9,
  },
  {
    name: "CPU of the import alone",
    prompt: "import",
    count: 0,
    rounds: 1,
    per: 1,
    unit: "ms",
    target: 20,
  },
];

export interface LibraryContender {
  readonly name: string;
  readonly file: string;
  readonly isPeer: boolean;
}

/** The measures with long answers, for which the number of deltas is reported. */
export function isStream({ prompt }: LibraryMeasure): boolean {
  return prompt.endsWith("20000");
}

export function isImport({ prompt }: LibraryMeasure): boolean {
  return prompt === "import";
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
