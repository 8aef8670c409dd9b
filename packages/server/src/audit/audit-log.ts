// The audit log: facts become lines, and the lines of one tick one write, which survives the end of the process. The
// disk is waited for where somebody must not go on before, for all lines so far; else within a second.

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { ApiError } from "../protocol/api-error.ts";
import { type AuditFact, type AuditSource, toLine } from "./fact.ts";

/** What facts are recorded in. */
export interface Audit {
  /** Adds a fact, which is written at the end of this tick. Gives the number of its line. */
  record(fact: AuditFact): number;
  /**
   * Resolves when all facts so far are on the disk; undefined if they are. Rejects with `AuditUnavailable` when they
   * cannot be written, unless the log goes on without.
   */
  settled(): Promise<void> | undefined;
}

/** Where lines go. */
export interface AuditSink {
  /** Writes lines, each with its end. Gives how many were written whole, and what stopped it. Never throws. */
  write(lines: readonly string[]): { readonly written: number; readonly error?: unknown };
  /** Resolves when what was written survives a crash of the machine. */
  sync(): Promise<void>;
  close(): void;
}

/** The log cannot be written, so that nothing may happen that should be in it. */
export class AuditUnavailable extends ApiError {
  constructor(cause: unknown) {
    super(
      "The server's audit log cannot be written at the moment, so that it does nothing. Try again; if that does not help, the reason is in the server's log.",
      { status: 503, code: "audit_unavailable", retryAfterMs: retryMs, cause },
    );
  }
}

export interface AuditLogOptions {
  /** What happens to requests and calls whose facts cannot be written. */
  readonly onFailure: "refuse" | "warn";
  /** Receives that the log cannot be written, and that it can again. */
  readonly onWarning: (message: string, error?: unknown) => void;
}

/** After a failure, how long until it is tried again. */
const retryMs = 1000;
/** How long a line that nobody waits for may stay in the memory of the machine. */
const syncMs = 1000;
/** How much waits while the log cannot be written; what comes then is only counted. */
const maxWaitingChars = 2_000_000;

/** Lines that are written together. */
interface Batch {
  readonly lines: string[];
  /** Whether somebody waits for the disk. */
  isAwaited: boolean;
  readonly done: PromiseWithResolvers<void>;
}

// Logs with lines to write before the process exits.
const unwritten = new Set<AuditLog>();
const writeAll = () => {
  for (const log of unwritten) log.writeNow();
};

export class AuditLog implements Audit {
  readonly #sink: AuditSink;
  readonly #options: AuditLogOptions;
  readonly #source: AuditSource = { node: hostname(), boot: randomBytes(6).toString("hex") };
  #number = 0;
  #next = newBatch();
  #waitingChars = 0;
  /** The batch that is on its way to the disk. */
  #current: Batch | undefined;
  #isScheduled = false;
  /** Whether lines are written that may not be on the disk. */
  #isDirty = false;
  #syncTimer: NodeJS.Timeout | undefined;
  #missed = 0;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(sink: AuditSink, options: AuditLogOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  record(fact: AuditFact): number {
    this.#number += 1;
    const line = `${toLine(this.#source, this.#number, new Date(), fact)}\n`;
    if (this.#isClosed || this.#waitingChars + line.length > maxWaitingChars) {
      this.#missed += 1;
      return this.#number;
    }
    this.#next.lines.push(line);
    this.#waitingChars += line.length;
    this.#schedule();
    return this.#number;
  }

  settled(): Promise<void> | undefined {
    if (this.#failure && performance.now() - this.#failure.atMs < retryMs)
      return this.#refusal(this.#failure);
    if (this.#current && this.#next.lines.length === 0) return this.#current.done.promise;
    if (!this.#isDirty && this.#next.lines.length === 0) return undefined;
    this.#next.isAwaited = true;
    this.#schedule();
    return this.#next.done.promise;
  }

  /** Writes what waits, without making sure that it survives a crash of the machine. */
  writeNow(): void {
    try {
      this.#write(this.#next);
    } catch {
      // The process exits: nobody is left to hear of it.
    }
  }

  /** Writes what waits, and closes the sink. Later facts are lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#syncTimer);
    while (this.#current) await this.#current.done.promise.catch(() => {});
    this.#next.isAwaited = true;
    await this.#flush();
    unwritten.delete(this);
    this.#sink.close();
  }

  #schedule(): void {
    if (!unwritten.has(this)) {
      unwritten.add(this);
      if (!process.listeners("exit").includes(writeAll)) process.on("exit", writeAll);
    }
    const isResting = this.#failure && performance.now() - this.#failure.atMs < retryMs;
    if (this.#isScheduled || this.#current || isResting || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#current && !this.#isClosed) void this.#flush();
    });
  }

  /** Never throws. */
  async #flush(): Promise<void> {
    const batch = this.#next;
    this.#next = newBatch();
    this.#current = batch;
    const unsynced = [...batch.lines];
    try {
      this.#write(batch);
      this.#isDirty = true;
      if (batch.isAwaited) await this.#sink.sync();
      else this.#syncLater();
      this.#isDirty = !batch.isAwaited;
      this.#noteRecovery();
      batch.done.resolve();
    } catch (error) {
      // What did not get onto the disk for sure is written again: a line may be there twice, with the same number.
      const waiting = [...(batch.lines.length > 0 ? batch.lines : unsynced), ...this.#next.lines];
      this.#next = { ...this.#next, lines: waiting };
      this.#waitingChars = waiting.reduce((sum, { length }) => sum + length, 0);
      this.#noteFailure(error);
      if (this.#options.onFailure === "refuse") batch.done.reject(new AuditUnavailable(error));
      else batch.done.resolve();
    } finally {
      this.#current = undefined;
      if (this.#next.lines.length > 0 || this.#next.isAwaited) this.#schedule();
      else unwritten.delete(this);
    }
  }

  #syncLater(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined;
      // A failure is reported, and nobody waits.
      void this.settled()?.catch(() => {});
    }, syncMs).unref();
  }

  /** Writes the lines of a batch, and takes those out that are written. Throws what stopped it. */
  #write(batch: Batch): void {
    if (batch.lines.length === 0) return;
    const { written, error } = this.#sink.write(batch.lines);
    for (const { length } of batch.lines.splice(0, written)) this.#waitingChars -= length;
    if (batch.lines.length > 0) throw error;
  }

  #noteFailure(error: unknown): void {
    const { onFailure, onWarning } = this.#options;
    if (!this.#failure)
      onWarning(
        onFailure === "refuse"
          ? "The audit log cannot be written: requests and calls are refused until it can."
          : "The audit log cannot be written: what happens meanwhile may be missing in it.",
        error,
      );
    this.#failure = { error, atMs: performance.now() };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#schedule(), retryMs + 10).unref();
  }

  #noteRecovery(): void {
    if (this.#failure) this.#options.onWarning("The audit log can be written again.");
    this.#failure = undefined;
    if (this.#missed === 0 || this.#isClosed) return;
    const count = this.#missed;
    this.#missed = 0;
    this.record({ action: "log.gap", count });
  }

  #refusal({ error }: { readonly error: unknown }): Promise<void> | undefined {
    return this.#options.onFailure === "warn" ? undefined : Promise.reject(new AuditUnavailable(error));
  }
}

function newBatch(): Batch {
  const done = Promise.withResolvers<void>();
  // Not everybody waits.
  done.promise.catch(() => {});
  return { lines: [], isAwaited: false, done };
}
