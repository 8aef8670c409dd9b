// Starts a server whose memory can be measured from outside.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MeasuredServerMessage, MeasuredServerRequest, Memory } from "./measured-server.ts";

export interface MeasuredServer extends AsyncDisposable {
  /** Without `/v1`. */
  readonly url: string;
  measure(): Promise<Memory>;
  /** From now on a tool keeps what it should let go. */
  leak(): void;
}

export interface MeasuredServerOptions {
  /** Where the database is. */
  readonly folder: string;
  readonly modelUrl: string;
}

const program = fileURLToPath(new URL("measured-server.ts", import.meta.url));

export async function startMeasuredServer(options: MeasuredServerOptions): Promise<MeasuredServer> {
  const { folder, modelUrl } = options;
  const store = `sqlite:${join(folder, "load.db")}`;
  const child = fork(program, [store, modelUrl], {
    // Code that is thrown away and made again would look like memory that comes and goes.
    execArgv: ["--expose-gc", "--no-flush-bytecode", "--conditions=rondo-source"],
  });
  const ready = await messageOf(child);
  const ask = (request: MeasuredServerRequest) => child.send(request);
  if (!("url" in ready)) throw new Error("Expected the server to tell its URL first.");
  return {
    url: ready.url,
    async measure() {
      ask("measure");
      const message = await messageOf(child);
      if (!("memory" in message)) throw new Error("Expected a measurement.");
      return message.memory;
    },
    leak: () => ask("leak"),
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

async function messageOf(child: ChildProcess): Promise<MeasuredServerMessage> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const ends = once(child, "exit", { signal }).then(([code]) => {
      throw new Error(`The server has ended with code ${String(code)}.`);
    });
    const [message] = (await Promise.race([once(child, "message", { signal }), ends])) as [
      MeasuredServerMessage,
    ];
    return message;
  } finally {
    ended.abort();
  }
}
