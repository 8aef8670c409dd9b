// The trace of one run on the server: collects what happens as lines, until a commit takes them. Only a long one has
// commits of its own.

import type { Tracer } from "rondo";
import type { TraceLevel } from "../protocol/trace-object.ts";
import type { TracePiece } from "../store/store.ts";
import type { NewTraceEvent, RunTraceEvent } from "./trace-event.ts";
import { toTraceLine } from "./trace-line.ts";

/** What earlier processes have written of a trace. */
export interface WrittenTrace {
  /** The number of the next event. */
  readonly next: number;
  readonly bytes: number;
  /** How many answers were asked for. */
  readonly answers: number;
  /** Whether it is too long already. */
  readonly isCut: boolean;
}

export interface RunTracerOptions {
  /** What is kept. With `off`, and for a run that is not stored, events only go to `onEvent`. */
  readonly level: TraceLevel;
  /** When the response was created: times are relative to it, in every process that works on it. */
  readonly createdAtMs: number;
  /** What earlier processes have written. Default: nothing. */
  readonly written?: WrittenTrace | undefined;
  /** Whether the owner must not see where the model server is. Default: false. */
  readonly hidesAddresses?: boolean;
  /** Receives every event, whatever is kept. */
  readonly onEvent: (event: RunTraceEvent) => void;
}

const asked = /^\{"at":[\d.]+,"type":"model\.asked","answer":(\d+)/gm;
const cutEnd = '"type":"trace.cut"}';

/** Whether a piece ends with the event that says that the rest is left out. */
export function isCutBy({ lines }: TracePiece): boolean {
  return lines.endsWith(cutEnd);
}

/** What a process that resumes a run has to know of its trace. */
export function writtenIn(
  pieces: readonly TracePiece[],
  { next, bytes }: Pick<WrittenTrace, "next" | "bytes">,
): WrittenTrace {
  let answers = 0;
  for (const { lines } of pieces)
    for (const [, answer] of lines.matchAll(asked)) answers = Math.max(answers, Number(answer) + 1);
  return { next, bytes, answers, isCut: pieces.some(isCutBy) };
}

/** How long a trace may become. */
const limits = {
  off: { events: 0, bytes: 0 },
  timings: { events: 20_000, bytes: 1_000_000 },
  full: { events: 100_000, bytes: 8_000_000 },
};
/** What was said takes no more of a full trace: the rest is for what happens after that. */
const contentLimits = {
  events: limits.full.events - limits.timings.events,
  bytes: limits.full.bytes - limits.timings.bytes,
};
/** Asking for it takes longer than asking for the time. */
const { timeOrigin } = performance;
/** Room for the event that says that the rest is left out. */
const cutRoom = 100;
/** So much is kept in memory until a commit is made for it. */
const maxPendingBytes = 256_000;
/** A tool that yields all the time is seen this often. */
const progressPauseMs = 100;

export class RunTracer implements Tracer {
  readonly level: TraceLevel;
  readonly wantsChunks: boolean;
  readonly #onEvent: (event: RunTraceEvent) => void;
  readonly #createdAtMs: number;
  /** The number of the next event, and that of the first which no commit took. */
  #next: number;
  #first: number;
  #lines: string[] = [];
  #bytes: number;
  /** How much of it no commit took. */
  #pendingBytes = 0;
  /** What the last commit took: it may not be stored yet. */
  #taken: TracePiece | undefined;
  #isCut: boolean;
  /** Whether what is said is written as well. */
  #isFull: boolean;
  /** The model server that was asked last, if its address is hidden. */
  #hidden: string | undefined;
  /** How many answers were asked for, and by how much their numbers are higher than the loop's. */
  #answers: number;
  #answerOffset = 0;
  #lastMs = 0;
  /** When each turn that yields was seen last. */
  #progressAtMs: Map<string, number> | undefined;

  constructor({ level, createdAtMs, written, hidesAddresses = false, onEvent }: RunTracerOptions) {
    this.level = level;
    this.wantsChunks = level === "full";
    this.#isFull = level === "full";
    this.#createdAtMs = createdAtMs;
    this.#onEvent = onEvent;
    this.#hidden = hidesAddresses ? "" : undefined;
    this.#next = written?.next ?? 0;
    this.#first = this.#next;
    this.#bytes = written?.bytes ?? 0;
    this.#answers = written?.answers ?? 0;
    this.#isCut = written?.isCut ?? false;
  }

  record(event: RunTraceEvent): void {
    this.#onEvent(event);
    this.#lastMs = event.atMs;
    if (this.level === "off" || this.#isCut) return;
    // A run that is begun again, after a crash or while a model server was away, counts only the answers that came.
    if (event.type === "model.asked") {
      this.#answerOffset = Math.max(0, this.#answers - event.answer);
      this.#answers = event.answer + this.#answerOffset + 1;
      if (this.#hidden !== undefined) this.#hidden = event.endpoint;
    }
    if (event.type === "turn.progress" && event.count > 10) {
      this.#progressAtMs ??= new Map();
      if (event.atMs - (this.#progressAtMs.get(event.turnId) ?? 0) < progressPauseMs) return;
      this.#progressAtMs.set(event.turnId, event.atMs);
    } else if (event.type === "turn.finished") this.#progressAtMs?.delete(event.turnId);
    if (event.type === "model.chunk" && !this.#isFull) return;
    const line = this.#lineOf(event);
    if (!this.#isFull || this.#hasRoomFor(line)) {
      this.#add(line);
      return;
    }
    this.#isFull = false;
    if (event.type !== "model.chunk") this.#add(this.#lineOf(event));
  }

  /** Records what the server does, now or at a time that is over. */
  note(event: NewTraceEvent, atMs?: number): void {
    // Not before what was recorded last: that may be by another clock.
    const nowMs = atMs ?? Math.max(this.#lastMs, timeOrigin + performance.now());
    this.record({ atMs: nowMs, ...event });
  }

  /** What happened since the last call, for a commit. */
  take(): TracePiece | undefined {
    if (this.#lines.length === 0) return undefined;
    this.#taken = this.#pending();
    this.#lines = [];
    this.#pendingBytes = 0;
    this.#first = this.#next;
    return this.#taken;
  }

  /** Whether so much is pending that it should be written, even if nothing else has to be. */
  get isLarge(): boolean {
    return this.#pendingBytes > maxPendingBytes;
  }

  /** What the store may not have yet. */
  get unwritten(): readonly TracePiece[] {
    return [...(this.#taken ? [this.#taken] : []), ...(this.#lines.length === 0 ? [] : [this.#pending()])];
  }

  #pending(): TracePiece {
    return { first: this.#first, last: this.#next - 1, lines: this.#lines.join("\n") };
  }

  #lineOf(event: RunTraceEvent): string {
    const at = Math.max(0, event.atMs - this.#createdAtMs);
    return toTraceLine(event, {
      at,
      answerOffset: this.#answerOffset,
      isFull: this.#isFull,
      hidden: this.#hidden,
    });
  }

  /** Whether a line with what was said leaves enough for what follows. */
  #hasRoomFor(line: string): boolean {
    const { events, bytes } = contentLimits;
    return this.#next < events && this.#bytes + Buffer.byteLength(line) < bytes;
  }

  #add(line: string): void {
    const { events, bytes } = limits[this.level];
    // Only a full trace has long texts of others, whose characters take more than one byte.
    const size = this.level === "full" ? Buffer.byteLength(line) : line.length;
    this.#isCut = this.#next >= events - 1 || this.#bytes + size + cutRoom > bytes;
    this.#lines.push(this.#isCut ? this.#lineOf({ type: "trace.cut", atMs: this.#lastMs }) : line);
    this.#bytes += size + 1;
    this.#pendingBytes += size + 1;
    this.#next += 1;
  }
}
