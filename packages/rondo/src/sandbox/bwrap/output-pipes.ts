// Named pipes for the output of processes. Node itself gives sockets to the processes that it starts, and a program
// cannot open those again as /dev/stdout or /dev/stderr, which scripts often do.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const run = promisify(execFile);
const batchSize = 32;

/** One end for the process, as a descriptor, and one to read from. */
export interface OutputPipe {
  readonly writeFd: number;
  readonly output: Readable;
}

/** Makes pipes ahead, many at once, as only a program of the system can. Each is used once. */
export class OutputPipes {
  readonly #folder: string;
  #paths: string[] = [];
  #making: Promise<void> | undefined;
  #isMissing = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether `take()` can be called. Others may take them during any wait. */
  get areReady(): boolean {
    return this.#paths.length >= 2 || this.#isMissing;
  }

  async prepare(): Promise<void> {
    this.#making ??= this.#make();
    await this.#making;
  }

  /** The caller closes them. Undefined where pipes cannot be made. */
  take(): readonly [OutputPipe, OutputPipe] | undefined {
    const [first, second] = this.#paths.splice(0, 2);
    return first === undefined || second === undefined ? undefined : [openPipe(first), openPipe(second)];
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: batchSize }, () =>
      join(this.#folder, `${randomBytes(8).toString("hex")}.pipe`),
    );
    try {
      // Containers run as other users, where this process is root. Nobody can list the folder to find them.
      await run("mkfifo", ["-m", "666", ...paths], { env: { PATH: "/usr/bin:/bin" } });
      this.#paths.push(...paths);
    } catch {
      this.#isMissing = true;
    } finally {
      this.#making = undefined;
    }
  }
}

/** Without a name, nobody but the process and this one has it. */
function openPipe(path: string): OutputPipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeFd = openSync(path, constants.O_WRONLY);
    return { writeFd, output: new Socket({ fd: readFd, readable: true, writable: false }) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  } finally {
    unlinkSync(path);
  }
}
