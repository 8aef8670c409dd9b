// One piece of code in an interpreter: its output as it comes, within its limits, and its outcome.

import { withResolvers } from "../../async/with-resolvers.ts";
import { limitMessage } from "../limit-messages.ts";
import { OutputQueue } from "../output-queue.ts";
import type { LimitName, Outcome, SandboxLimits } from "../sandbox.ts";
import type { DriverMessage } from "./frames.ts";
import type { CodeCall, CodeOutcome, CodeOutput, RunCodeOptions } from "./interpreter.ts";

/** All images of a call together. */
const maxImageBytes = 16 * 1024 * 1024;
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Why a call was asked to stop. */
type StopReason = { readonly type: LimitName; readonly message: string } | { readonly type: "cancelled" };

/** What a call needs of its interpreter. */
export interface CallHost {
  readonly limits: SandboxLimits;
  /** Asks the code to stop. */
  interrupt(): void;
  /** Ends the process. */
  kill(): void;
  readonly graceMs: number;
}

export class RunningCall implements CodeCall {
  readonly outcome: Promise<CodeOutcome>;
  readonly code: string;
  readonly #host: CallHost;
  readonly #options: RunCodeOptions;
  readonly #settled = withResolvers<CodeOutcome>();
  readonly #queue: OutputQueue<CodeOutput>;
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #maxOutputBytes: number;
  readonly #timers: NodeJS.Timeout[] = [];
  #outputBytes = 0;
  #imageBytes = 0;
  #stop: StopReason | undefined;
  #error: CodeOutcome | undefined;
  #isStarted = false;
  #isSettled = false;

  constructor(host: CallHost, code: string, options: RunCodeOptions) {
    this.#host = host;
    this.code = code;
    this.#options = options;
    this.outcome = this.#settled.promise;
    this.#maxOutputBytes = options.maxOutputBytes ?? host.limits.outputBytes;
    // Nothing waits: what a call may print is limited, and fits into memory.
    this.#queue = new OutputQueue(
      () => {},
      () => this.#ask({ type: "cancelled" }),
    );
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => this.#ask({ type: "cancelled" });

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get isCancelled(): boolean {
    return this.#stop !== undefined || this.#options.signal?.aborted === true;
  }

  [Symbol.asyncIterator](): AsyncIterator<CodeOutput> {
    return this.#queue[Symbol.asyncIterator]();
  }

  /** The process has the code now. */
  start(): void {
    this.#isStarted = true;
    const timeoutMs = this.#options.timeoutMs ?? this.#host.limits.timeoutMs;
    if (!Number.isFinite(timeoutMs)) return;
    const message = limitMessage("timeout", this.#host.limits, timeoutMs);
    this.#timers.push(setTimeout(() => this.#ask({ type: "timeout", message }), timeoutMs));
  }

  output(type: "stdout" | "stderr", bytes: Uint8Array): void {
    const room = this.#maxOutputBytes - this.#outputBytes;
    this.#outputBytes += bytes.length;
    if (room > 0) this.#text(type, this.#decoders[type].decode(bytes.subarray(0, room), { stream: true }));
    if (bytes.length <= room) return;
    this.#ask({ type: "output", message: limitMessage("output", this.#host.limits, this.#maxOutputBytes) });
  }

  message({ type, fields, payload }: DriverMessage): void {
    if (type === "image") this.#image(payload);
    else if (type === "result") this.#result(payload);
    else if (type === "error")
      this.#error = {
        type: "error",
        isLost: false,
        name: String(fields["name"]).slice(0, 200),
        message: String(fields["message"]).slice(0, 2000),
        traceback: payload.toString("utf8"),
      };
  }

  /** The code came to its end, and the interpreter is ready for more. */
  finish(): void {
    if (this.#stop !== undefined) this.#settle({ ...this.#stop, isLost: false });
    else this.#settle(this.#error ?? { type: "done", isLost: false });
  }

  /** The process ended. */
  lose(outcome: Outcome): void {
    if (this.#stop !== undefined) this.#settle({ ...this.#stop, isLost: true });
    else if ("message" in outcome) this.#settle({ ...outcome, isLost: true });
    else if (outcome.type === "cancelled")
      this.#settle({ type: "lost", isLost: true, message: "The interpreter was closed." });
    else {
      const how = outcome.type === "exit" ? `exit code ${outcome.code}` : outcome.signal;
      this.#settle({ type: "lost", isLost: true, message: `The code ended its interpreter (${how}).` });
    }
  }

  /** Cancelled before it began: the interpreter is as it was. */
  skip(): void {
    this.#settle({ type: "cancelled", isLost: false });
  }

  #ask(stop: StopReason): void {
    if (this.#isSettled || this.#stop !== undefined) return;
    this.#stop = stop;
    if (!this.#isStarted) return;
    this.#host.interrupt();
    this.#timers.push(setTimeout(() => this.#host.kill(), this.#host.graceMs));
  }

  #text(type: "stdout" | "stderr", text: string): void {
    if (text !== "") this.#queue.push({ type, text }, text.length);
  }

  #result(payload: Buffer): void {
    const room = Math.max(0, this.#maxOutputBytes - this.#outputBytes);
    this.#outputBytes += payload.length;
    const text = payload.subarray(0, room).toString("utf8");
    if (text !== "") this.#queue.push({ type: "result", text }, text.length);
  }

  #image(bytes: Buffer): void {
    this.#imageBytes += bytes.length;
    if (this.#imageBytes > maxImageBytes || !bytes.subarray(0, pngStart.length).equals(pngStart)) return;
    this.#queue.push({ type: "image", mediaType: "image/png", bytes }, bytes.length);
  }

  #settle(outcome: CodeOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    for (const type of ["stdout", "stderr"] as const) this.#text(type, this.#decoders[type].decode());
    this.#queue.end();
    this.#settled.resolve(outcome);
  }
}
