// The trace of one request to a model. A model does not know how many there were before, so that it records them all as
// answer 0; here they get their number.

import type { TraceHeaders } from "./headers.ts";
import { type NewEvent, RunTrace } from "./run-trace.ts";
import type { TraceEvent, Tracer } from "./trace.ts";
import { toTraceError } from "./trace-error.ts";

type Asked = Omit<Extract<TraceEvent, { type: "model.asked" }>, "type" | "atMs" | "answer">;
type Finished = Omit<Extract<TraceEvent, { type: "model.finished" }>, "type" | "atMs" | "answer">;

/** Takes the bytes of a reply, until its end. */
interface ChunkTaker {
  readonly take: (bytes: Uint8Array) => void;
  readonly end: () => void;
}

interface ChunkFilter {
  take(piece: string): string;
  end(): string;
}

export class AnswerTrace implements Tracer {
  readonly #run: RunTrace;
  #answer = 0;
  #attempts = 0;
  #hasStarted = false;
  #isOver = false;

  constructor(run: RunTrace) {
    this.#run = run;
  }

  /** The trace of a model's request, made by the loop or from a user's tracer. */
  static of(tracer: Tracer): AnswerTrace {
    return tracer instanceof AnswerTrace ? tracer : new AnswerTrace(RunTrace.of(tracer));
  }

  get answer(): number {
    return this.#answer;
  }

  get wantsChunks(): boolean {
    return this.#run.wantsChunks;
  }

  /** A request begins: the first, or another one after a failure of a model. */
  asked(asked: Asked): void {
    this.#answer = this.#run.nextAnswer();
    this.#attempts = 0;
    this.#hasStarted = false;
    this.#isOver = false;
    this.emit({ type: "model.asked", answer: 0, ...asked });
  }

  /** The first token came. Only the first call counts. */
  started(): void {
    if (!this.#hasStarted) this.emit({ type: "model.started", answer: 0 });
  }

  finished(finished: Finished): void {
    this.emit({ type: "model.finished", answer: 0, ...finished });
    this.#isOver = true;
  }

  /** It has no effect on an answer that is over. */
  failed(error: unknown): void {
    if (this.#isOver) return;
    this.emit({ type: "model.failed", answer: 0, error: toTraceError(error) });
    this.#isOver = true;
  }

  /** A request goes out. Gives the headers that connect it to the trace. */
  sent(url: string, body: readonly string[], isStream: boolean): TraceHeaders {
    this.#attempts += 1;
    const attempt = this.#attempts;
    this.emit({
      type: "request.sent",
      answer: 0,
      attempt,
      url,
      bytes: body.reduce((sum, part) => sum + byteLength(part), 0),
      isStream,
      body: () => body.join(""),
    });
    return this.headers();
  }

  retried(error: unknown, waitMs: number): void {
    const attempt = this.#attempts;
    this.emit({ type: "request.retried", answer: 0, attempt, waitMs, error: toTraceError(error) });
  }

  /** What takes the bytes of one reply. `filter` hides the secrets that a server quotes. */
  chunkTaker(filter: ChunkFilter): ChunkTaker {
    const decoder = new TextDecoder();
    const tell = (text: string) => {
      if (text !== "") this.emit({ type: "model.chunk", answer: 0, text });
    };
    return {
      take: (bytes) => tell(filter.take(decoder.decode(bytes, { stream: true }))),
      end: () => tell(filter.end()),
    };
  }

  emit(event: NewEvent): void {
    if (this.#mayRecord(event)) this.#run.emit(event, this.#answer);
  }

  record(event: TraceEvent): void {
    if (!this.#mayRecord(event)) return;
    this.#run.record("answer" in event ? { ...event, answer: this.#answer } : event);
  }

  headers(): TraceHeaders {
    return this.#run.headers({ answer: this.#answer });
  }

  /** Sends a request as a part of the answer. */
  sendWithin<T>(send: () => T): T {
    return this.#run.withinAnswer(this.#answer, send);
  }

  /** What a model tells late, after it was left, belongs to no answer any more. */
  #mayRecord({ type }: NewEvent): boolean {
    if (this.#isOver || (type === "model.started" && this.#hasStarted)) return false;
    if (type === "model.started") this.#hasStarted = true;
    return true;
  }
}

/** Of a text in UTF-8. Where the runtime can tell, nothing is encoded for it: a body may have megabytes. */
function byteLength(text: string): number {
  const { Buffer: buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };
  return buffer?.byteLength(text) ?? new TextEncoder().encode(text).length;
}
