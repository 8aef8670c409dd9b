// Starts an interpreter in a container, on any tier: a driver reads code from its standard input.

import { randomBytes } from "node:crypto";
import { withResolvers } from "../../async/with-resolvers.ts";
import {
  checkDuration,
  checkGrace,
  checkLimit,
  checkOptions,
  checkSignal,
  requireType,
} from "../../error/check.ts";
import type { Container, Execution, Outcome } from "../sandbox.ts";
import { RunningCall } from "./code-call.ts";
import { type DriverMessage, FrameReader } from "./frames.ts";
import type { CodeCall, Interpreter, Language, RunCodeOptions } from "./interpreter.ts";
import { drivers } from "./languages.ts";

export interface OpenInterpreterOptions {
  /** Default: `python`. */
  readonly language?: Language;
  /** How long code may go on after it was interrupted, before its interpreter is ended. Default: 1,000. */
  readonly graceMs?: number;
}

/** Limits of what the driver sends, in bytes. */
const messageLimits = { maxTextBytes: 256 * 1024, maxImageBytes: 4 * 1024 * 1024, maxImages: 10 };
const maxCodeBytes = 1024 * 1024;

/** Starts an interpreter. Rejects if the container lacks the language. */
export async function openInterpreter(
  container: Container,
  options: OpenInterpreterOptions = {},
): Promise<Interpreter> {
  checkOptions("options", options, ["language", "graceMs"]);
  const language = options.language ?? "python";
  const graceMs = checkGrace("options.graceMs", options.graceMs ?? 1000);
  const marker = Buffer.from(`\0\x1erondo:${randomBytes(16).toString("hex")}:`);
  const { command, env } = drivers[language];
  const execution = await container.exec({
    command,
    env,
    input: "open",
    timeoutMs: Number.POSITIVE_INFINITY,
    maxOutputBytes: Number.POSITIVE_INFINITY,
  });
  const interpreter = new DriverInterpreter(container, execution, language, marker, graceMs);
  await interpreter.ready();
  return interpreter;
}

class DriverInterpreter implements Interpreter {
  readonly language: Language;
  readonly #container: Container;
  readonly #execution: Execution;
  readonly #graceMs: number;
  readonly #waiting: RunningCall[] = [];
  readonly #ready = withResolvers<void>();
  readonly #marker: Buffer;
  /** The beginning of what a driver printed that could not start. */
  #startOutput = "";
  #isReady = false;
  #current: RunningCall | undefined;
  #calls = 0;
  /** Both streams end with a message, so that nothing of a call is left in one of them. */
  #openStreams = 0;
  #ended: Outcome | undefined;
  /** Since the last call began. */
  #droppedBytes = 0;

  constructor(
    container: Container,
    execution: Execution,
    language: Language,
    marker: Buffer,
    graceMs: number,
  ) {
    this.#container = container;
    this.#execution = execution;
    this.language = language;
    this.#marker = marker;
    this.#graceMs = graceMs;
    void this.#read();
    void execution.write(Buffer.concat([marker, Buffer.from("\n")]));
  }

  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  async ready(): Promise<void> {
    await this.#ready.promise;
  }

  run(code: string, options: RunCodeOptions = {}): CodeCall {
    requireType(typeof code === "string", "code", "a string", code);
    checkOptions("options", options, ["timeoutMs", "maxOutputBytes", "signal"]);
    if (options.timeoutMs !== undefined) checkDuration("options.timeoutMs", options.timeoutMs);
    if (options.maxOutputBytes !== undefined) checkLimit("options.maxOutputBytes", options.maxOutputBytes);
    checkSignal("options.signal", options.signal);
    const call = new RunningCall(
      {
        limits: this.#container.limits,
        graceMs: this.#graceMs,
        interrupt: () => void this.#execution.write(Buffer.from(`{"type":"interrupt"}\n`)),
        kill: () => this.#execution.cancel(),
      },
      code,
      options,
    );
    if (this.#ended !== undefined)
      call.lose({ type: "lost", message: "The interpreter ended before, and its variables are gone." });
    else {
      this.#waiting.push(call);
      this.#startNext();
    }
    return call;
  }

  async close(): Promise<void> {
    this.#execution.cancel();
    await this.#execution.outcome;
  }

  #startNext(): void {
    while (this.#current === undefined) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      if (call.isCancelled) {
        call.skip();
        continue;
      }
      const bytes = Buffer.from(call.code);
      if (bytes.length > maxCodeBytes) {
        call.message({
          type: "error",
          fields: { name: "ValueError", message: `The code is longer than ${maxCodeBytes} bytes.` },
          payload: Buffer.from(`The code is longer than ${maxCodeBytes} bytes.`),
        });
        call.finish();
        continue;
      }
      this.#current = call;
      this.#calls++;
      this.#openStreams = 2;
      this.#droppedBytes = 0;
      const header = { type: "run", call: this.#calls, bytes: bytes.length, limits: messageLimits };
      this.#execution.renewCpu();
      call.start();
      void this.#execution.write(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), bytes]));
    }
  }

  async #read(): Promise<void> {
    const readers = { stdout: this.#reader("stdout"), stderr: this.#reader("stderr") };
    try {
      for await (const { from, bytes } of this.#execution) readers[from].push(bytes);
    } catch {
      this.#execution.cancel();
    }
    this.#end(await this.#execution.outcome);
  }

  #reader(from: "stdout" | "stderr"): FrameReader {
    return new FrameReader({
      marker: this.#marker,
      maxPayloadBytes: messageLimits.maxImageBytes,
      onOutput: (bytes) => {
        if (!this.#isReady) this.#startOutput = (this.#startOutput + bytes.toString()).slice(0, 1000);
        if (this.#current === undefined) this.#drop(bytes.length);
        else this.#current.output(from, bytes);
      },
      onMessage: (message) => {
        if (this.#current === undefined) this.#drop(message.payload.length);
        this.#onMessage(message);
      },
    });
  }

  /** Threads of the code may go on to print between calls, which keeps this process busy for nobody. */
  #drop(bytes: number): void {
    this.#droppedBytes += bytes;
    if (this.#droppedBytes > this.#container.limits.outputBytes) this.#execution.cancel();
  }

  #onMessage(message: DriverMessage): void {
    if (message.type === "ready") {
      this.#isReady = true;
      this.#ready.resolve();
    } else if (message.type !== "end") this.#current?.message(message);
    // The end of an earlier call, or one that the code made up.
    else if (message.fields["call"] === this.#calls && --this.#openStreams === 0) {
      this.#current?.finish();
      this.#current = undefined;
      this.#startNext();
    }
  }

  #end(outcome: Outcome): void {
    this.#ended = outcome;
    if (!this.#isReady) {
      const problem = "message" in outcome ? outcome.message : JSON.stringify(outcome);
      this.#ready.reject(
        new Error(`The ${this.language} interpreter did not start: ${problem} ${this.#startOutput}`.trim()),
      );
    }
    this.#current?.lose(outcome);
    this.#current = undefined;
    for (const call of this.#waiting.splice(0)) call.lose(outcome);
  }
}
