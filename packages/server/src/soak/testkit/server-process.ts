// The real command in a process of its own, which can be killed and started again on the same files.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Effect, readEffects } from "./entry-tools.ts";

export interface ServerProcessOptions {
  /** Where the database and the file of effects are. */
  readonly folder: string;
  readonly modelUrl: string;
  /** More variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One life of the server, from its announcement on. */
export class Life {
  readonly url: string;
  /** Whether it was told to end: broken connections are no surprise from then on. */
  isOver = false;

  constructor(url: string) {
    this.url = url;
  }
}

const command = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const config = fileURLToPath(new URL("soak.config.ts", import.meta.url));

export class ServerProcess implements AsyncDisposable {
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | undefined;
  #life: Life | undefined;
  #next = Promise.withResolvers<Life>();
  /** Hears of each effect of a tool, as soon as it has happened. */
  onEffect: (effect: Effect) => void = () => {};
  /** What all lives have written to standard error. */
  complaints = "";

  constructor(options: ServerProcessOptions) {
    this.#options = options;
  }

  /** Starts a process, and gives its life when it serves; undefined if it was killed before that. */
  async start(): Promise<Life | undefined> {
    const { folder, modelUrl, env } = this.#options;
    const child = spawn(
      process.execPath,
      ["--conditions=rondo-source", command, "serve", "--config", config, "--port", "0"],
      {
        env: {
          ...process.env,
          // Half of a start would be reading the same sources again.
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "compiled"),
          RONDO_STORE: `sqlite:${join(folder, "soak.db")}`,
          SOAK_EFFECTS_FILE: this.#effectsFile,
          SOAK_MODEL_URL: modelUrl,
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    // Whatever ends this process, by Ctrl-C too, ends the server with it.
    const reap = () => child.kill("SIGKILL");
    process.prependOnceListener("exit", reap);
    child.once("exit", () => process.off("exit", reap));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.complaints += text));
    const announced = Promise.withResolvers<Life | undefined>();
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("{")) {
        this.onEffect(JSON.parse(line) as Effect);
        return;
      }
      const url = / at (http:\S+)\/v1 /.exec(line)?.[1];
      if (url !== undefined) announced.resolve(new Life(url));
    });
    child.once("exit", (code, signal) => {
      if (signal === "SIGKILL") announced.resolve(undefined);
      else
        announced.reject(new Error(`The server has ended with code ${code} (${signal}): ${this.complaints}`));
    });
    const life = await announced.promise;
    if (!life || this.#child !== child) return undefined;
    this.#life = life;
    this.#next.resolve(life);
    return life;
  }

  /** The life that serves now, or the next one. */
  async serving(): Promise<Life> {
    return this.#life ?? this.#next.promise;
  }

  /** Ends the process as a power cut would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Asks the process to end in good order. Gives its exit code. */
  async terminate(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  effects(): Effect[] {
    return readEffects(this.#effectsFile);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await this.kill();
  }

  get #effectsFile(): string {
    return join(this.#options.folder, "effects.jsonl");
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child) throw new Error("There is no process to end.");
    if (this.#life) {
      this.#life.isOver = true;
      this.#life = undefined;
      this.#next = Promise.withResolvers();
    }
    this.#child = undefined;
    const exited = once(child, "exit") as Promise<[number | null]>;
    child.kill(signal);
    const [code] = await exited;
    return code;
  }
}
