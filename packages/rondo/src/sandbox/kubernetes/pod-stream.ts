// One job of the agent in a pod, over the WebSocket of exec.

import { stringify } from "node:querystring";
import type { KubeConfig } from "@kubernetes/client-node";
import { withResolvers } from "../../async/with-resolvers.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import { agentCommand } from "./pod-agent.ts";

/** What a tier needs to reach a pod. */
export interface PodAddress {
  readonly client: typeof import("@kubernetes/client-node");
  readonly config: KubeConfig;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** How a job ended. */
export interface PodStreamEnd {
  /** What the agent reports. Undefined: it did not get to it. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  /** Whether the process in the pod ended, as the API server reports; if not, the connection broke. */
  readonly isProcessOver: boolean;
  /** What the agent printed, or why there is no connection. */
  readonly detail: string;
}

type Handler = InstanceType<PodAddress["client"]["Exec"]>["handler"];
type Connection = Awaited<ReturnType<Handler["connect"]>> & {
  pause?: () => void;
  resume?: () => void;
};

const connectMs = 30_000;
const chunkBytes = 32 * 1024;
/** How much input may be on its way. */
const maxUnread = 64 * 1024;
const channels = { output: 1, errors: 2, status: 3 };

export class PodStream {
  readonly ended: Promise<PodStreamEnd>;
  readonly #ended = withResolvers<PodStreamEnd>();
  readonly #onOutput: (kind: "o" | "r", content: Buffer) => void;
  readonly #frames = new FrameReader();
  #connection: Connection | undefined;
  #result: Readonly<Record<string, unknown>> | undefined;
  #isProcessOver = false;
  #isOver = false;
  #detail = "";
  #unread = 0;
  #wake: (() => void) | undefined;

  private constructor(onOutput: (kind: "o" | "r", content: Buffer) => void) {
    this.#onOutput = onOutput;
    this.ended = this.#ended.promise;
  }

  /** Starts a job. Rejects if the API server refuses, or cannot be reached. */
  static async open(
    address: PodAddress,
    job: object,
    onOutput: (kind: "o" | "r", content: Buffer) => void,
    signal?: AbortSignal,
  ): Promise<PodStream> {
    const stream = new PodStream(onOutput);
    await stream.#connect(address, job, signal);
    return stream;
  }

  /** Sends a frame. Input resolves when the process may take more, also if it ended. */
  async send(kind: "d" | "e" | "c" | "k", content: Uint8Array = new Uint8Array()): Promise<void> {
    if (kind !== "d") return this.#sendFrame(kind, content);
    for (let at = 0; at < content.length && !this.#isOver; at += chunkBytes) {
      const part = content.subarray(at, at + chunkBytes);
      while (this.#unread > maxUnread && !this.#isOver) {
        const { promise, resolve } = withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
      this.#unread += part.length;
      this.#sendFrame(kind, part);
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  pause(isPaused: boolean): void {
    if (isPaused) this.#connection?.pause?.();
    else this.#connection?.resume?.();
  }

  /** Breaks the connection; the agent then ends what it started. */
  close(): void {
    this.#connection?.resume?.();
    this.#connection?.close();
    this.#end();
  }

  async #connect(
    { client, config, namespace, pod, container }: PodAddress,
    job: object,
    signal?: AbortSignal,
  ): Promise<void> {
    signal?.throwIfAborted();
    const query = { stdin: true, stdout: true, stderr: true, tty: false, container };
    const command = [...agentCommand, JSON.stringify(job)];
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec?${stringify({ ...query, command })}`;
    const { handler } = new client.Exec(config);
    // It would close the streams of this process, if the server asked for it.
    Object.assign(handler, { streams: unusedStreams });
    const connecting = handler
      .connect(path, null, (channel, content) => this.#receive(channel, content))
      .then(
        (connection) => connection as Connection,
        (problem: unknown) => {
          throw connectError(problem);
        },
      );
    const { promise: stopped, reject } = withResolvers<never>();
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(
      () => reject(new Error("The API server did not open the connection in time.")),
      connectMs,
    );
    try {
      const connection = await Promise.race([connecting, stopped]);
      this.#connection = connection;
      connection.addEventListener("close", () => this.#end());
      connection.addEventListener("error", ({ message }) => this.#note(message));
      if (connection.readyState > 1) this.#end();
    } catch (error) {
      void connecting.then((connection) => connection.close()).catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Returns whether the connection stays open. */
  #receive(channel: number, content: Buffer): boolean {
    if (this.#isOver) return false;
    if (channel === channels.errors) this.#note(content.toString("utf8"));
    if (channel === channels.status) {
      this.#isProcessOver = true;
      this.#note(content.toString("utf8"));
      this.#end();
      return false;
    }
    if (channel !== channels.output) return true;
    try {
      for (const { kind, content: inner } of this.#frames.read(content)) this.#take(kind, inner);
    } catch (error) {
      this.#note(String(error));
      this.close();
      return false;
    }
    return true;
  }

  #take(kind: string, content: Buffer): void {
    if (kind === "o" || kind === "r") this.#onOutput(kind, content);
    else if (kind === "a" && content.length === 4) {
      this.#unread -= content.readUInt32BE(0);
      this.#wake?.();
    } else if (kind === "x") {
      this.#result = JSON.parse(content.toString("utf8")) as Record<string, unknown>;
      this.#isProcessOver = true;
      this.#end();
    } else throw new Error("expected a frame of the agent");
  }

  #sendFrame(kind: string, content: Uint8Array): void {
    const frame = encodeFrame(kind, content);
    if (this.#connection?.readyState === 1) this.#connection.send(Buffer.concat([Buffer.from([0]), frame]));
  }

  #note(text: string): void {
    this.#detail = `${this.#detail}${text}`.slice(0, 2000);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake?.();
    this.#connection?.close();
    this.#ended.resolve({ result: this.#result, isProcessOver: this.#isProcessOver, detail: this.#detail });
  }
}

const unusedStream = { pause: () => undefined, end: () => undefined };
const unusedStreams = { stdin: unusedStream, stdout: unusedStream, stderr: unusedStream };

/** Why a WebSocket did not open: an event, not an error. */
function connectError(problem: unknown): Error {
  const message = (problem as { message?: unknown } | null)?.message;
  return new Error(`The API server did not open the connection: ${String(message ?? problem)}`, {
    cause: problem,
  });
}
