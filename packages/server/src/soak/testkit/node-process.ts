// A node of a cluster: the real command in a process of its own, behind a proxy to the database. Like a service manager,
// it starts the process again when it ended.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Effect } from "./entry-tools.ts";
import { TcpProxy } from "./tcp-proxy.ts";

export interface NodeOptions {
  /** Where the file of effects is. */
  readonly folder: string;
  readonly modelUrl: string;
  readonly databasePort: number;
  /** The URL of the store at a port. */
  readonly storeUrl: (port: number) => string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onEffect?: (effect: Effect) => void;
}

const command = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const config = fileURLToPath(new URL("soak.config.ts", import.meta.url));

export class NodeProcess implements AsyncDisposable {
  readonly proxy: TcpProxy;
  readonly #options: NodeOptions;
  #child: ChildProcess | undefined;
  /** Where it serves; undefined while it does not. */
  url: string | undefined;
  isFrozen = false;
  /** What all processes have written to standard error. */
  stderr = "";
  #isStopped = false;

  private constructor(options: NodeOptions, proxy: TcpProxy) {
    this.#options = options;
    this.proxy = proxy;
  }

  /** Starts a node, and resolves when it serves. */
  static async start(options: NodeOptions): Promise<NodeProcess> {
    const node = new NodeProcess(options, await TcpProxy.start(options.databasePort));
    await node.#keepRunning();
    return node;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ends the process at once. Resolves when the next one serves. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
    await this.#keepRunning();
  }

  /** Asks the process to end. Resolves when the next one serves, with the exit code and the time that it took. */
  async terminate(): Promise<{ code: number | null; ms: number }> {
    const start = performance.now();
    const code = await this.#end("SIGTERM");
    const ms = performance.now() - start;
    await this.#keepRunning();
    return { code, ms };
  }

  freeze(): void {
    this.isFrozen = true;
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
    this.isFrozen = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#end("SIGKILL");
    await this.proxy[Symbol.asyncDispose]();
  }

  /** Starts processes until one serves: the database may be away. */
  async #keepRunning(): Promise<void> {
    while (!this.#isStopped && !(await this.#start())) await wait(200);
  }

  async #start(): Promise<boolean> {
    const { folder, modelUrl, storeUrl, env, onEffect } = this.#options;
    const child = spawn(
      process.execPath,
      ["--conditions=rondo-source", command, "serve", "--config", config, "--port", "0"],
      {
        env: {
          ...process.env,
          // Most of a start would be reading the same sources again.
          NODE_COMPILE_CACHE: join(folder, "..", "rondo-compiled-sources"),
          RONDO_STORE: storeUrl(this.proxy.port),
          SOAK_EFFECTS_FILE: join(folder, "effects.jsonl"),
          SOAK_MODEL_URL: modelUrl,
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    // Whatever ends this process, by Ctrl-C too, ends the node with it.
    const reap = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", reap);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    const { promise: hasStarted, resolve } = Promise.withResolvers<boolean>();
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("{")) {
        onEffect?.(JSON.parse(line) as Effect);
        return;
      }
      const url = / at (http:\S+)\/v1 /.exec(line)?.[1];
      if (url === undefined) return;
      this.url = url;
      resolve(true);
    });
    child.once("exit", () => {
      process.off("exit", reap);
      resolve(false);
      if (this.#child !== child) return;
      this.#child = undefined;
      this.url = undefined;
    });
    return hasStarted;
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.url = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const exited = once(child, "exit") as Promise<[number | null]>;
    child.kill(signal);
    if (this.isFrozen) this.thaw();
    const [code] = await exited;
    return code;
  }
}
