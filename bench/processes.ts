// Starts the processes of a measurement, all on the same Node, and collects their figures.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { LoadRequest, LoadResult } from "./server/load-messages.ts";

export function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

export interface ServerProcess extends AsyncDisposable {
  /** With `/v1`. */
  readonly url: string;
  /** The CPU time used so far. */
  cpuMs(): Promise<number>;
  /** The memory in use after garbage collection. */
  rssBytes(): Promise<number>;
  /** The same as it is. */
  residentBytes(): Promise<number>;
}

export interface LoadProcess extends Disposable {
  ask(job: LoadRequest): Promise<LoadResult>;
}

/** Starts the model server, and returns its URL. */
export async function startModel(): Promise<{ readonly url: string } & Disposable> {
  const child = fork(pathOf("model/model-server.ts"), { execArgv: [] });
  const { url } = (await messageOf(child)) as { url: string };
  return { url, [Symbol.dispose]: () => void child.kill() };
}

/** Starts a server that prints its URL in its first line. */
export async function startServer(
  program: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    ["--expose-gc", "--import", pathOf("server/measured.mjs"), ...extraArgs(), ...program],
    { stdio: ["ignore", "pipe", "inherit", "ipc"], env: { ...process.env, ...env } },
  );
  const ask = async (question: "cpu" | "memory" | "resident") => {
    child.send(question);
    return (await messageOf(child)) as number;
  };
  return {
    url: await urlIn(child.stdout),
    cpuMs: () => ask("cpu"),
    rssBytes: () => ask("memory"),
    residentBytes: () => ask("resident"),
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

/** The URL after the first `at`. Keeps reading: a server may exit when its output is not read. */
function urlIn(output: Readable | null): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = "";
  output?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    const url = / ?at (http:\/\/\S+\/v1)/.exec(printed)?.[1];
    if (url !== undefined) resolve(url);
  });
  output?.once("end", () => reject(new Error(`A server exited before it printed its URL: ${printed}`)));
  return promise;
}

export function startLoad(): LoadProcess {
  const child = fork(pathOf("server/load.ts"), { execArgv: [] });
  return {
    async ask(job) {
      child.send(job);
      const answer = (await messageOf(child)) as LoadResult | { error: string };
      if ("error" in answer)
        throw new Error(`The load generator could not do '${job.type}': ${answer.error}`);
      return answer;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

export interface ContenderFigure {
  readonly milliseconds: number;
  /** The number of deltas of an answer's text. */
  readonly deltas: number;
}

/** Runs a contender for one measure. */
export async function runContender(args: readonly string[]): Promise<ContenderFigure> {
  const child = spawn(process.execPath, [...extraArgs(), pathOf("library/run.mjs"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  await once(child, "close");
  // Output of the peers themselves comes first.
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) throw new Error(`${args.join(" ")} has failed:\n${errors.slice(-2000)}`);
  return JSON.parse(last) as ContenderFigure;
}

/** For profiles: BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=/tmp/profiles". */
function extraArgs(): string[] {
  return process.env["BENCH_NODE_ARGS"]?.split(" ") ?? [];
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const ends = once(child, "exit", { signal }).then(([code]) => {
      throw new Error(`A process of the benchmark exited with code ${String(code)}.`);
    });
    const [message] = (await Promise.race([once(child, "message", { signal }), ends])) as unknown[];
    return message;
  } finally {
    ended.abort();
  }
}
