// File operations in a pod, each a job of the agent.

import { namesInContainer } from "../container-path.ts";
import { limitMessage } from "../limit-messages.ts";
import { OutputQueue } from "../output-queue.ts";
import type { ContainerFile, SandboxLimits } from "../sandbox.ts";
import {
  InvalidPathError,
  MissingFileError,
  SandboxClosedError,
  SandboxLimitError,
} from "../sandbox-errors.ts";
import type { PodStream, PodStreamEnd } from "./pod-stream.ts";

/** Starts a job of the agent. */
export type StartJob = (
  job: object,
  onOutput: (kind: "o" | "r", content: Buffer) => void,
  signal?: AbortSignal,
) => Promise<PodStream>;

export class PodFiles {
  readonly #start: StartJob;
  readonly #limits: SandboxLimits;

  constructor(start: StartJob, limits: SandboxLimits) {
    this.#start = start;
    this.#limits = limits;
  }

  async *read(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const job = { do: "read", names: namesInContainer(path) };
    let stream: PodStream | undefined;
    const queue = new OutputQueue<Buffer>(
      (isFull) => stream?.pause(isFull),
      () => stream?.close(),
    );
    stream = await this.#begin(job, (_kind, content) => queue.push(content, content.length), signal);
    const over = stream.ended.then((end) => {
      queue.end();
      return end;
    });
    yield* queue;
    this.#resultOf(path, await over, signal);
  }

  async write(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<ContainerFile> {
    const names = namesInContainer(path);
    const stream = await this.#begin({ do: "write", names }, () => undefined, signal);
    // The agent takes input as fast as the disk does; only the last frame makes it a file.
    try {
      for await (const bytes of content instanceof Uint8Array ? [content] : content) {
        if (stream.isOver) break;
        await stream.send("d", bytes);
      }
    } catch (error) {
      stream.close();
      throw error;
    }
    await stream.send("e");
    const { bytes, modifiedAtMs } = this.#resultOf(path, await stream.ended, signal);
    return { path: names.join("/"), bytes: Number(bytes), modifiedAtMs: Number(modifiedAtMs) };
  }

  async list(signal?: AbortSignal): Promise<ContainerFile[]> {
    const parts: Buffer[] = [];
    const stream = await this.#begin({ do: "list" }, (_kind, content) => parts.push(content), signal);
    this.#resultOf("", await stream.ended, signal);
    const files = JSON.parse(Buffer.concat(parts).toString("utf8")) as [string, number, number][];
    return files
      .map(([path, bytes, modifiedAtMs]) => ({ path, bytes, modifiedAtMs }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string, signal?: AbortSignal): Promise<boolean> {
    const job = { do: "remove", names: namesInContainer(path) };
    const stream = await this.#begin(job, () => undefined, signal);
    return this.#resultOf(path, await stream.ended, signal)["removed"] === true;
  }

  async #begin(
    job: object,
    onOutput: (kind: "o" | "r", content: Buffer) => void,
    signal?: AbortSignal,
  ): Promise<PodStream> {
    const { diskBytes, files } = this.#limits;
    const stream = await this.#start({ ...job, limits: { diskBytes, files } }, onOutput, signal);
    const onAbort = () => stream.close();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    void stream.ended.then(() => signal?.removeEventListener("abort", onAbort));
    return stream;
  }

  #resultOf(
    path: string,
    { result, detail }: PodStreamEnd,
    signal: AbortSignal | undefined,
  ): Readonly<Record<string, unknown>> {
    signal?.throwIfAborted();
    if (result === undefined)
      throw new SandboxClosedError("The connection to the pod", { cause: new Error(detail) });
    switch (result["error"]) {
      case undefined:
        return result;
      case "ENOENT":
        throw new MissingFileError(path);
      case "ELOOP":
      case "ENOTDIR":
        throw new InvalidPathError(path, "goes through a link or a file");
      case "folder":
        throw new InvalidPathError(path, "is a folder");
      case "irregular":
      case "ENXIO":
        throw new InvalidPathError(path, "is not a regular file");
      case "disk":
      case "ENOSPC":
      case "EDQUOT":
      case "EFBIG":
        throw new SandboxLimitError("disk", limitMessage("disk", this.#limits));
      default:
        throw new Error(`The file operation failed in the pod: ${String(result["error"])}`);
    }
  }
}
