// What a service manager does: starts the server again whenever its process ends.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

export interface SupervisorOptions {
  readonly folder: string;
  /** The config file. */
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** After so many deaths it is not started any more. */
  readonly maxDeaths: number;
}

export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  /** How each process has ended: its exit code, or a signal. */
  readonly deaths: (number | string | null)[] = [];
  /** What all have written to standard error. */
  stderr = "";
  #child: ChildProcess | undefined;
  #url = Promise.withResolvers<string>();
  #isStopped = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    // It is looked at when someone asks.
    this.#url.promise.catch(() => {});
    this.#start();
  }

  /** Where it serves now, or will next. */
  get url(): Promise<string> {
    return this.#url.promise;
  }

  /** Asks until there is an answer that `isDone` takes. */
  async getUntil<T>(path: string, isDone: (body: T) => boolean): Promise<T> {
    while (true) {
      const url = await this.url;
      const body = await fetch(`${url}/v1${path}`).then(
        async (reply) => (await reply.json()) as T,
        () => undefined,
      );
      if (body !== undefined && isDone(body)) return body;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    if (!child) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  #start(): void {
    const { folder, config, env, maxDeaths } = this.#options;
    const child = spawn(
      process.execPath,
      ["--conditions=rondo-source", command, "serve", "--config", config, "--port", "0"],
      {
        env: {
          ...process.env,
          // Half of a start would be reading the same sources again.
          NODE_COMPILE_CACHE:
            process.env["NODE_COMPILE_CACHE"] ?? join(folder, "..", "rondo-compiled-sources"),
          RONDO_STORE: `sqlite:${join(folder, "rondo.db")}`,
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    const reap = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", reap);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = / at (http:\S+)\/v1 /.exec(line)?.[1];
      if (url !== undefined) this.#url.resolve(url);
    });
    child.once("exit", (code, signal) => {
      process.off("exit", reap);
      this.#child = undefined;
      if (this.#isStopped) return;
      this.deaths.push(signal ?? code);
      this.#url = Promise.withResolvers();
      this.#url.promise.catch(() => {});
      if (this.deaths.length < maxDeaths) this.#start();
      else this.#url.reject(new Error(`The server has died ${maxDeaths} times: ${this.stderr}`));
    });
  }
}
