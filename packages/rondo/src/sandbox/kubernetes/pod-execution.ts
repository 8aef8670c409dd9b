// One process in a pod, and its outcome.

import { constants } from "node:os";
import { withResolvers } from "../../async/with-resolvers.ts";
import { limitOutcome } from "../limit-messages.ts";
import { OutputQueue } from "../output-queue.ts";
import type { ExecRequest, Execution, LimitName, Outcome, OutputChunk, SandboxLimits } from "../sandbox.ts";
import type { PodStream, PodStreamEnd } from "./pod-stream.ts";

export interface PodExecutionSetup {
  readonly request: ExecRequest;
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal | undefined;
  /** Starts the job; what comes back goes to the function. */
  readonly start: (onOutput: (kind: "o" | "r", content: Buffer) => void) => Promise<PodStream>;
  /** Ends everything in the pod, because the agent does not answer, and finds out why it ended. */
  readonly sweep: () => Promise<Outcome>;
}

/** How long the agent may take to end processes, and to report a limit that it watches itself. */
const answerMs = 5000;

export class PodExecution implements Execution {
  readonly outcome: Promise<Outcome>;
  readonly #setup: PodExecutionSetup;
  readonly #queue: OutputQueue<OutputChunk>;
  readonly #outcome = withResolvers<Outcome>();
  #stream: PodStream | undefined;
  #reason: Outcome | undefined;
  #outputBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #giveUpTimer: NodeJS.Timeout | undefined;

  private constructor(setup: PodExecutionSetup) {
    this.#setup = setup;
    this.outcome = this.#outcome.promise;
    this.#queue = new OutputQueue(
      (isFull) => this.#stream?.pause(isFull && this.#reason === undefined),
      () => this.cancel(),
    );
  }

  static async start(setup: PodExecutionSetup): Promise<PodExecution> {
    const execution = new PodExecution(setup);
    const stream = await setup.start((kind, content) => execution.#receive(kind, content));
    execution.#stream = stream;
    execution.#follow(stream);
    return execution;
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk> {
    return this.#queue[Symbol.asyncIterator]();
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#stream?.send("d", bytes);
  }

  end(): void {
    void this.#stream?.send("e");
  }

  renewCpu(): void {
    void this.#stream?.send("c");
  }

  cancel(): void {
    this.endWith({ type: "cancelled" });
  }

  /** Ends it with an outcome, unless it has one. */
  endWith(outcome: Outcome): void {
    if (this.#reason !== undefined) return;
    this.#reason = outcome;
    this.#stream?.pause(false);
    void this.#stream?.send("k");
    this.#giveUpTimer = setTimeout(() => this.#stream?.close(), answerMs);
  }

  #follow(stream: PodStream): void {
    const { request, limits, signal } = this.#setup;
    const onAbort = () => this.cancel();
    if (signal?.aborted) this.cancel();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const timeoutMs = request.timeoutMs ?? limits.timeoutMs;
    // The agent keeps the time itself, unless the code stopped it.
    if (Number.isFinite(timeoutMs))
      this.#timer = setTimeout(
        () => this.endWith(limitOutcome("timeout", limits, timeoutMs)),
        timeoutMs + answerMs,
      );
    void this.#feed();
    void this.#finish(stream, timeoutMs, () => signal?.removeEventListener("abort", onAbort));
  }

  async #finish(stream: PodStream, timeoutMs: number, release: () => void): Promise<void> {
    const end = await stream.ended;
    clearTimeout(this.#timer);
    clearTimeout(this.#giveUpTimer);
    release();
    const outcome = await this.#outcomeOf(end, timeoutMs);
    this.#queue.end();
    this.#outcome.resolve(outcome);
  }

  async #outcomeOf({ result, isProcessOver, detail }: PodStreamEnd, timeoutMs: number): Promise<Outcome> {
    const { limits, sweep } = this.#setup;
    if (result === undefined) {
      // A broken connection ends the processes. An agent that ended or hangs does not.
      if (!isProcessOver && this.#reason === undefined)
        return { type: "lost", message: `The connection to the pod broke. ${detail}`.trimEnd() };
      const found = await sweep();
      return this.#reason ?? found;
    }
    if (this.#reason !== undefined) return this.#reason;
    const { limit, code } = result;
    if (limit === "timeout") return limitOutcome("timeout", limits, timeoutMs);
    if (limit === "cancelled") return { type: "cancelled" };
    if (typeof limit === "string") return limitOutcome(limit as LimitName, limits);
    if (typeof code !== "number")
      return { type: "lost", message: "The agent in the pod reported no exit code." };
    return code < 0 ? { type: "signal", signal: signalName(-code) } : { type: "exit", code };
  }

  #receive(kind: "o" | "r", bytes: Buffer): void {
    const { request, limits } = this.#setup;
    const maxBytes = request.maxOutputBytes ?? limits.outputBytes;
    const room = maxBytes - this.#outputBytes;
    this.#outputBytes += bytes.length;
    if (room > 0 && this.#reason === undefined) {
      const part = bytes.length > room ? bytes.subarray(0, room) : bytes;
      this.#queue.push({ from: kind === "o" ? "stdout" : "stderr", bytes: part }, part.length);
    }
    if (bytes.length > room) this.endWith(limitOutcome("output", limits, maxBytes));
  }

  async #feed(): Promise<void> {
    const { input } = this.#setup.request;
    if (input === "open") return;
    try {
      if (input instanceof Uint8Array) await this.write(input);
      else if (input !== undefined) for await (const bytes of input) await this.write(bytes);
      this.end();
    } catch {
      this.cancel();
    }
  }
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
}
