// Reads the lines of an audit log, in pieces of any size. What is not a line of it is counted, and never stops it.

import { lineVersion } from "./fact.ts";

/** A line as it stands in the file: fields in snake_case. */
export interface AuditLine {
  readonly time: string;
  readonly node: string;
  readonly boot: string;
  readonly n: number;
  readonly action: string;
  readonly owner?: string;
  readonly response_id?: string;
  readonly started?: number;
  readonly [field: string]: unknown;
}

/** The longest line that is read; those that are written have a few kilobytes. */
const maxLineBytes = 65_536;
/** How many processes are remembered at once. */
const maxBoots = 1000;

export class LogReader {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #lineCount = 0;
  /** The number of the last line of each process. */
  readonly #last = new Map<string, number>();
  /** Lines that cannot be read, and the first of them. */
  broken = 0;
  firstBroken: { readonly line: number; readonly why: string } | undefined;
  /** How many numbers are skipped: lines that are not there any more, or never were. */
  missing = 0;

  /** The lines that a piece completes. */
  *read(piece: Uint8Array): Generator<AuditLine, void, void> {
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      this.#keep(piece.subarray(start, end));
      start = end + 1;
      const line = this.#take();
      if (line) yield line;
    }
    this.#keep(piece.subarray(start));
  }

  /** The last line, if the log does not end with its end. */
  *end(): Generator<AuditLine, void, void> {
    const line = this.#bytes > 0 ? this.#take() : undefined;
    if (line) yield line;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes <= maxLineBytes) this.#pieces.push(part);
    else this.#pieces = [];
  }

  #take(): AuditLine | undefined {
    this.#lineCount += 1;
    const isTooLong = this.#bytes > maxLineBytes;
    const text = isTooLong ? "" : Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    this.#bytes = 0;
    const line = isTooLong ? `it has more than ${maxLineBytes} bytes` : parseLine(text);
    if (typeof line !== "string") {
      this.#count(line);
      return line;
    }
    this.broken += 1;
    this.firstBroken ??= { line: this.#lineCount, why: line };
    return undefined;
  }

  #count({ boot, n }: AuditLine): void {
    const last = this.#last.get(boot);
    if (last !== undefined && n > last + 1) this.missing += n - last - 1;
    if (last !== undefined && n <= last) return;
    this.#last.delete(boot);
    this.#last.set(boot, n);
    const [oldest] = this.#last.keys();
    if (this.#last.size > maxBoots && oldest !== undefined) this.#last.delete(oldest);
  }
}

/** A line, or why it is none. */
function parseLine(text: string): AuditLine | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  const { v, time, node, boot, n, action } = Object(value) as Record<string, unknown>;
  if (typeof v === "number" && v > lineVersion) return "a later version wrote it";
  const hasTexts = [time, node, boot, action].every((it) => typeof it === "string");
  if (v !== lineVersion || !hasTexts || !Number.isSafeInteger(n) || Number.isNaN(Date.parse(String(time))))
    return "it is not a line of an audit log";
  return value as AuditLine;
}
