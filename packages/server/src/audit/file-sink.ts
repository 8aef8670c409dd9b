// Appends lines to a file. The file may be renamed or emptied by others meanwhile: then a new one is begun.

import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import type { AuditSink } from "./audit-log.ts";

/** How often it is checked whether the path still leads to the open file. */
const checkMs = 1000;

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const syncData = promisify(fdatasync);

/** The log cannot be opened: the server does not start. */
export class AuditFileError extends Error {
  override readonly name = "AuditFileError";
}

export class FileSink implements AuditSink {
  readonly #path: string;
  #file: number;
  #checkedAtMs = performance.now();
  /** Whether the file ends in the middle of a line. */
  #isTorn: boolean;

  /** Opens the file, or creates it for its owner alone. Throws an `AuditFileError`. */
  constructor(path: string) {
    this.#path = resolve(path);
    try {
      this.#file = open(this.#path);
    } catch (error) {
      throw new AuditFileError(
        `The audit log ${this.#path} cannot be opened: ${(error as Error).message}. Set another path (audit in the config, RONDO_AUDIT or --audit), or let the server write there.`,
        { cause: error },
      );
    }
    this.#isTorn = endsInLine(this.#file);
  }

  /** Whether the last process died in the middle of a line, which the next write ends. */
  get isTorn(): boolean {
    return this.#isTorn;
  }

  write(lines: readonly string[]): { written: number; error?: unknown } {
    try {
      this.#reopenIfMoved();
    } catch (error) {
      return { written: 0, error };
    }
    const start = this.#isTorn ? "\n" : "";
    const bytes = Buffer.from(start + lines.join(""));
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(this.#file, bytes, done);
      this.#isTorn = false;
      return { written: lines.length };
    } catch (error) {
      if (done > 0) this.#isTorn = bytes[done - 1] !== 10;
      return { written: wholeLines(lines, done - start.length), error };
    }
  }

  async sync(): Promise<void> {
    await syncData(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  #reopenIfMoved(): void {
    const now = performance.now();
    if (now - this.#checkedAtMs < checkMs) return;
    const there = statSync(this.#path, { throwIfNoEntry: false });
    const { dev, ino } = fstatSync(this.#file);
    if (there?.dev !== dev || there.ino !== ino) {
      const old = this.#file;
      this.#file = open(this.#path);
      this.#isTorn = endsInLine(this.#file);
      fdatasyncSync(old);
      closeSync(old);
    }
    this.#checkedAtMs = now;
  }
}

function open(path: string): number {
  const isNew = statSync(path, { throwIfNoEntry: false }) === undefined;
  const file = openSync(path, O_APPEND | O_CREAT | O_RDWR, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new Error("expected a file, got something else");
    if (isNew) syncFolder(dirname(path));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** So that the name of a new file survives a crash of the machine too. */
function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 10;
}

function wholeLines(lines: readonly string[], bytes: number): number {
  let left = bytes;
  const first = lines.findIndex((line) => {
    left -= Buffer.byteLength(line);
    return left < 0;
  });
  return first < 0 ? lines.length : first;
}
