// One process in a container: bwrap with its namespaces, the limits around it, and the outcome.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import type { Duplex, Readable, Writable } from "node:stream";
import { withResolvers } from "../../async/with-resolvers.ts";
import { limitOutcome } from "../limit-messages.ts";
import { OutputQueue } from "../output-queue.ts";
import type { ExecRequest, Execution, Outcome, OutputChunk, SandboxLimits } from "../sandbox.ts";
import type { ContainerGroup } from "./cgroup.ts";
import type { OutputPipe } from "./output-pipes.ts";
import { processTree, treeUsage } from "./process-tree.ts";

export interface ExecutionSetup {
  /**
   * Starts it: reads `options` from `argsFd`, writes `{"child-pid": …}` to `infoFd`, and waits for a line from
   * `startFd` before the command runs.
   */
  readonly program: string;
  readonly args: readonly string[];
  /** Separated by zero bytes on their way. */
  readonly options: readonly string[];
  readonly filterFile: string;
  /** Whom bwrap is started as, where this process is root. */
  readonly user: number | undefined;
  readonly limits: SandboxLimits;
  readonly request: ExecRequest;
  readonly group: ContainerGroup | undefined;
  /** What is added to the time, for the start. */
  readonly startMs: number;
  /** For the standard output and error. Without them, they are sockets. */
  readonly pipes: readonly [OutputPipe, OutputPipe] | undefined;
}

const firstLookMs = 20;
const fastLookMs = 50;
const slowLookMs = 250;
/** The kernel counts CPU time coarsely: a process that begins seems idle. */
const maxIdleLooks = 10;
/** How long bwrap may take to say which process it started, once that has to end. */
const maxStartMs = 5000;
/** How long output may come after the end of the process. What it wrote itself is there at once. */
const maxDrainMs = 1000;

/** File descriptors beyond the standard ones. */
const argsFd = 3;
const filterFd = 4;
export const infoFd = 5;
export const startFd = 6;
export const gateFd = 7;
const bwrapDescriptors = [
  ["--args", argsFd],
  ["--seccomp", filterFd],
  ["--info-fd", infoFd],
  ["--block-fd", startFd],
].flatMap((pair) => pair.map(String));

/**
 * bwrap goes on when this process ends while it starts, and nothing would limit or end the command. So the command
 * waits for a word of this process, which comes when the first process of the namespace is bound to end with it: bwrap
 * turns the filter on after that.
 */
const gate = `
until [ "$filter" = 2 ]; do
  while read -r name value; do [ "$name" = Seccomp: ] && filter=$value; done < /proc/1/status
done
echo ready >&${gateFd} && read -r word <&${gateFd} && [ "$word" = start ] && exec "$@" ${gateFd}<&-`;

/** The arguments of bwrap for a command. */
export function bwrapArguments(command: readonly string[]): string[] {
  return [...bwrapDescriptors, "--", "/bin/sh", "-c", gate, "gate", ...command];
}

export class BwrapExecution implements Execution {
  readonly outcome: Promise<Outcome>;
  readonly #setup: ExecutionSetup;
  readonly #child: ChildProcess;
  readonly #output: { readonly stdout: Readable; readonly stderr: Readable };
  readonly #queue: OutputQueue<OutputChunk>;
  readonly #outcome = withResolvers<Outcome>();
  readonly #maxOutputBytes: number;
  readonly #earlierKills: number;
  readonly #earlierRefusals: number;
  #timer: NodeJS.Timeout | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  #reason: Outcome | undefined;
  #isFinished = false;
  #outputBytes = 0;
  /** The first process of the namespace, by its id outside: all others end with it. */
  #firstPid: number | undefined;
  #idleLooks = 0;
  #cpuMs = 0;
  #cpuStartMs = 0;

  constructor(setup: ExecutionSetup, signal: AbortSignal | undefined) {
    const { request, limits, group, user } = setup;
    this.#setup = setup;
    this.outcome = this.#outcome.promise;
    this.#maxOutputBytes = request.maxOutputBytes ?? limits.outputBytes;
    this.#earlierKills = group?.memoryKills() ?? 0;
    this.#earlierRefusals = group?.refusedProcesses() ?? 0;
    const filter = openSync(setup.filterFile, "r");
    try {
      this.#child = spawn(setup.program, setup.args, {
        cwd: "/",
        env: {},
        stdio: [
          request.input === undefined ? "ignore" : "pipe",
          setup.pipes?.[0].writeFd ?? "pipe",
          setup.pipes?.[1].writeFd ?? "pipe",
          "pipe",
          filter,
          "pipe",
          "pipe",
          "pipe",
        ],
        ...(user !== undefined && { uid: user, gid: user }),
      });
    } finally {
      closeSync(filter);
      for (const { writeFd } of setup.pipes ?? []) closeSync(writeFd);
    }
    this.#output = {
      stdout: setup.pipes?.[0].output ?? (this.#child.stdout as Readable),
      stderr: setup.pipes?.[1].output ?? (this.#child.stderr as Readable),
    };
    this.#queue = new OutputQueue(
      (isFull) => this.#pause(isFull),
      () => this.cancel(),
    );
    const onAbort = () => this.cancel();
    this.#child.once("error", (error) => {
      this.#reason ??= { type: "lost", message: `The sandbox did not start: ${error.message}` };
      if (this.#child.pid !== undefined) return;
      for (const { output } of setup.pipes ?? []) output.destroy();
      this.#finish(null, null, onAbort, signal);
    });
    this.#child.once("exit", (code, name) => {
      void this.#drain().then(() => this.#finish(code, name, onAbort, signal));
    });
    if (this.#child.pid === undefined) return;
    this.#readOutput();
    this.#start();
    void this.#feed();
    const timeoutMs = request.timeoutMs ?? limits.timeoutMs;
    if (Number.isFinite(timeoutMs))
      this.#timer = setTimeout(
        () => this.end(limitOutcome("timeout", limits, timeoutMs)),
        timeoutMs + setup.startMs,
      );
    if (signal?.aborted) this.cancel();
    else signal?.addEventListener("abort", onAbort, { once: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk> {
    return this.#queue[Symbol.asyncIterator]();
  }

  write(bytes: Uint8Array): Promise<void> {
    const stdin = this.#child.stdin;
    if (stdin === null || stdin.destroyed || !stdin.writable) return Promise.resolve();
    const { promise, resolve } = withResolvers<void>();
    stdin.write(bytes, () => resolve());
    return promise;
  }

  end(outcome?: Outcome): void {
    if (outcome === undefined) {
      this.#child.stdin?.end();
      return;
    }
    this.#reason ??= outcome;
    this.#kill();
  }

  renewCpu(): void {
    this.#idleLooks = 0;
    this.#cpuStartMs = this.#usage().cpuMs;
    this.#look(fastLookMs);
  }

  cancel(): void {
    this.end({ type: "cancelled" });
  }

  /** Its processes, by their ids outside. */
  pids(): number[] {
    return this.#firstPid === undefined ? [] : [...processTree(this.#firstPid)];
  }

  /**
   * The namespace ends with its first process, and bwrap then. If it is not known yet, bwrap must say which it is: ended
   * at the wrong moment, it would leave a process that nobody knows.
   */
  #kill(): void {
    // The id may be another process's by now.
    if (this.#isFinished) return;
    if (this.#firstPid !== undefined) killProcess(this.#firstPid);
    else {
      for (const fd of [startFd, gateFd]) this.#child.stdio[fd]?.destroy();
      clearTimeout(this.#lookTimer);
      this.#lookTimer = setTimeout(() => this.#child.kill("SIGKILL"), maxStartMs).unref();
    }
    // Output that nobody reads must not keep the end of the streams from coming.
    this.#pause(false);
  }

  /** Nothing of the command runs before it is in its group. */
  #start(): void {
    const [, , , args, , info, start, gate] = this.#child.stdio as unknown as [
      Writable,
      Readable,
      Readable,
      Writable,
      null,
      Readable,
      Writable,
      Duplex,
    ];
    for (const stream of [args, info, start, gate]) stream.on("error", () => {});
    args.end(this.#setup.options.map((argument) => `${argument}\0`).join(""));
    let text = "";
    info.setEncoding("utf8");
    info.on("data", (part: string) => {
      text += part;
      const pid = Number(/"child-pid":\s*(\d+)/.exec(text)?.[1]);
      if (!(pid > 0) || this.#firstPid !== undefined) return;
      this.#firstPid = pid;
      if (this.#reason !== undefined) return this.#kill();
      try {
        this.#setup.group?.add(pid);
      } catch (error) {
        this.end({ type: "lost", message: `The process could not join its group: ${String(error)}` });
        return;
      }
      start.end("\n");
      gate.once("data", () => {
        gate.end("start\n");
        this.#look(firstLookMs);
      });
    });
  }

  /** What the process has written is taken, though not what others write whom it gave its streams. */
  async #drain(): Promise<void> {
    const ends = Object.values(this.#output)
      .filter((stream) => !stream.closed)
      .map(async (stream) => {
        stream.resume();
        await new Promise((resolve) => stream.once("close", resolve));
      });
    const timer = setTimeout(() => {
      for (const stream of Object.values(this.#output)) stream.destroy();
    }, maxDrainMs);
    await Promise.all(ends);
    clearTimeout(timer);
  }

  #readOutput(): void {
    for (const from of ["stdout", "stderr"] as const) {
      const stream = this.#output[from];
      stream.on("error", () => {});
      stream.on("data", (bytes: Buffer) => {
        const room = this.#maxOutputBytes - this.#outputBytes;
        this.#outputBytes += bytes.length;
        if (room > 0) {
          const part = bytes.length > room ? bytes.subarray(0, room) : bytes;
          this.#queue.push({ from, bytes: part }, part.length);
        }
        if (bytes.length > room) this.end(limitOutcome("output", this.#setup.limits, this.#maxOutputBytes));
      });
    }
  }

  #pause(isFull: boolean): void {
    for (const stream of Object.values(this.#output))
      if (isFull && this.#reason === undefined && this.#child.exitCode === null) stream.pause();
      else stream.resume();
  }

  async #feed(): Promise<void> {
    const { input } = this.#setup.request;
    this.#child.stdin?.on("error", () => {});
    if (input === undefined || input === "open") return;
    try {
      if (input instanceof Uint8Array) await this.write(input);
      else for await (const bytes of input) await this.write(bytes);
      this.#child.stdin?.end();
    } catch {
      this.cancel();
    }
  }

  #usage(): ReturnType<typeof treeUsage> {
    const none = { cpuMs: this.#cpuMs, processes: 0, memoryBytes: 0 };
    if (this.#firstPid === undefined) return none;
    return treeUsage(this.#firstPid, { withMemory: this.#setup.group === undefined });
  }

  /** Looks at what the kernel does not limit by itself, more often while something happens. */
  #look(afterMs: number): void {
    clearTimeout(this.#lookTimer);
    this.#lookTimer = setTimeout(() => {
      if (this.#reason !== undefined) return;
      const usage = this.#usage();
      this.#idleLooks = usage.cpuMs <= this.#cpuMs ? this.#idleLooks + 1 : 0;
      this.#cpuMs = Math.max(usage.cpuMs, this.#cpuMs);
      const limit = this.#passedLimit(usage);
      if (limit !== undefined) this.end(limitOutcome(limit, this.#setup.limits));
      else this.#look(this.#idleLooks > maxIdleLooks ? slowLookMs : fastLookMs);
    }, afterMs).unref();
  }

  #passedLimit(usage: ReturnType<typeof treeUsage>): "memory" | "processes" | "cpu" | undefined {
    const { limits, group } = this.#setup;
    if (group === undefined) {
      if (usage.processes > limits.processes) return "processes"; // also if they need too much memory together
      if (usage.memoryBytes > limits.memoryBytes) return "memory";
    } else {
      if (group.memoryKills() > this.#earlierKills) return "memory";
      if (group.refusedProcesses() > this.#earlierRefusals) return "processes";
    }
    return usage.cpuMs - this.#cpuStartMs > limits.cpuMs ? "cpu" : undefined;
  }

  #finish(
    code: number | null,
    name: string | null,
    onAbort: () => void,
    signal: AbortSignal | undefined,
  ): void {
    this.#isFinished = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#lookTimer);
    signal?.removeEventListener("abort", onAbort);
    this.#queue.end();
    this.#outcome.resolve(this.#reason ?? this.#naturalOutcome(code, name));
  }

  #naturalOutcome(code: number | null, name: string | null): Outcome {
    const { group, limits } = this.#setup;
    const ending = name ?? signalOf(code);
    if (ending === "SIGXFSZ") return limitOutcome("disk", limits);
    if (ending === "SIGXCPU") return limitOutcome("cpu", limits);
    if (code === 0) return { type: "exit", code };
    if (group !== undefined && group.memoryKills() > this.#earlierKills)
      return limitOutcome("memory", limits);
    if (group !== undefined && group.refusedProcesses() > this.#earlierRefusals)
      return limitOutcome("processes", limits);
    return ending === undefined ? { type: "exit", code: code ?? 1 } : { type: "signal", signal: ending };
  }
}

/** Programs of the shell's kind report a signal as 128 and its number, and bwrap is one. */
function signalOf(code: number | null): string | undefined {
  if (code === null || code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
