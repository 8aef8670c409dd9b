// The last lines of the log, in memory: for the console. Lines are kept as they are, and rendered when somebody reads.

import { newId } from "../../protocol/ids.ts";
import type { LogLineReply, LogReply } from "../../protocol/system.ts";
import { describeError, type LogFields, type Logger, type LogLevel, levelOrder, redact } from "../log.ts";

interface Line {
  readonly atMs: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
  readonly chars: number;
}

export interface LogTailOptions {
  /** The lowest level that is kept. */
  readonly level: LogLevel;
  /** Default: 1,000. */
  readonly maxLines?: number;
  /** Default: 2,000,000. */
  readonly maxChars?: number;
}

export interface LogQuery {
  /** The number after which the lines begin. Default: the last ones. */
  readonly after?: number | undefined;
  readonly limit: number;
  /** Only lines that name this owner. Default: all. */
  readonly owner?: string | undefined;
}

/** Fields for the operator alone: they may name addresses and files. */
const operatorFields = ["error", "cause"];
/** What a line has besides its texts. */
const lineChars = 100;
/** How much of a text is shown. */
const maxTextChars = 8000;

export class LogTail {
  /** Numbers begin anew with each process: who follows must notice another one. */
  readonly #bootId = newId("boot");
  readonly #least: number;
  readonly #maxLines: number;
  readonly #maxChars: number;
  /** By their numbers, modulo the most that are kept. */
  readonly #lines: (Line | undefined)[] = [];
  /** The numbers of the oldest line, and of the next one. */
  #first = 1;
  #next = 1;
  #chars = 0;

  constructor({ level, maxLines = 1000, maxChars = 2_000_000 }: LogTailOptions) {
    this.#least = levelOrder[level];
    this.#maxLines = maxLines;
    this.#maxChars = maxChars;
  }

  /** A logger that writes to another one, and keeps its lines here. */
  around(logger: Logger): Logger {
    return {
      debug: (message, fields) => {
        this.#add("debug", message, fields);
        logger.debug(message, fields);
      },
      info: (message, fields) => {
        this.#add("info", message, fields);
        logger.info(message, fields);
      },
      warn: (message, fields) => {
        this.#add("warn", message, fields);
        logger.warn(message, fields);
      },
      error: (message, fields, error) => {
        const described = error === undefined ? fields : { ...fields, error: describeError(error) };
        this.#add("error", message, described);
        logger.error(message, fields, error);
      },
    };
  }

  /** Lines in their order, and the number to go on after. */
  read({ after, limit, owner }: LogQuery): Omit<LogReply, "object"> {
    return { boot_id: this.#bootId, ...this.#find({ after, limit, owner }) };
  }

  #find({ after, limit, owner }: LogQuery): { data: LogLineReply[]; next: number } {
    const newest = this.#next - 1;
    // A number that is not there yet is of the process before this one.
    const isFollowing = after !== undefined && after <= newest;
    const found: LogLineReply[] = [];
    const omitted = owner === undefined ? [] : operatorFields;
    const reply = (n: number, line: Line) => toReply(n, line, omitted);
    const isWanted = ({ fields }: Line) => owner === undefined || fields["owner"] === owner;
    if (!isFollowing) {
      for (let n = newest; n >= this.#first && found.length < limit; n -= 1) {
        const line = this.#at(n);
        if (line && isWanted(line)) found.push(reply(n, line));
      }
      return { data: found.toReversed(), next: newest };
    }
    for (let n = Math.max(after + 1, this.#first); n <= newest; n += 1) {
      const line = this.#at(n);
      if (!line || !isWanted(line)) continue;
      found.push(reply(n, line));
      if (found.length === limit) return { data: found, next: n };
    }
    return { data: found, next: newest };
  }

  #at(n: number): Line | undefined {
    return this.#lines[n % this.#maxLines];
  }

  #add(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (levelOrder[level] < this.#least) return;
    let chars = lineChars + message.length;
    for (const name in fields) {
      const value = fields[name];
      chars += name.length + (typeof value === "string" ? value.length : 8);
    }
    if (this.#next - this.#first === this.#maxLines) this.#drop();
    this.#lines[this.#next % this.#maxLines] = { atMs: Date.now(), level, message, fields, chars };
    this.#next += 1;
    this.#chars += chars;
    while (this.#chars > this.#maxChars) this.#drop();
  }

  #drop(): void {
    const place = this.#first % this.#maxLines;
    this.#chars -= this.#lines[place]?.chars ?? 0;
    this.#lines[place] = undefined;
    this.#first += 1;
  }
}

/** Redacted as the log itself is, with the names of fields beside their values; and shortened. */
function toReply(
  n: number,
  { atMs, level, message, fields }: Line,
  omitted: readonly string[],
): LogLineReply {
  const entries = Object.entries(fields).flatMap(
    ([name, value]): [string, LogLineReply["fields"][string]][] => {
      if (value === undefined || omitted.includes(name)) return [];
      return [[name, typeof value === "string" ? redactField(name, value) : value]];
    },
  );
  const time = new Date(atMs).toISOString();
  return { n, time, level, message: redact(short(message)), fields: Object.fromEntries(entries) };
}

function redactField(name: string, value: string): string {
  const before = `${name}=`;
  const line = redact(before + short(value));
  return line.startsWith(before) ? line.slice(before.length) : "[redacted]";
}

function short(text: string): string {
  return text.length > maxTextChars ? `${text.slice(0, maxTextChars)}…` : text;
}
