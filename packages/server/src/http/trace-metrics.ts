// Metrics of models and tools, from what traces have.

import type { RunTraceEvent } from "../engine/trace-event.ts";
import type { Metrics } from "./metrics.ts";

/** When the answer that a run waits for went on. */
interface OpenAnswer {
  slotAwaitedMs: number;
  /** Undefined unless the answer is streamed: of a whole one the first token is not seen. */
  sentMs: number | undefined;
  startedMs: number | undefined;
}

/** A run that ends without a word must not stay for ever. */
const maxOpen = 10_000;

export class TraceMetrics {
  readonly #metrics: Metrics;
  readonly #open = new Map<string, OpenAnswer>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  record(event: RunTraceEvent, responseId: string): void {
    switch (event.type) {
      case "slot.awaited":
        this.#answerOf(responseId).slotAwaitedMs = event.atMs;
        return;
      case "slot.taken":
        this.#metrics.slotTaken((event.atMs - this.#answerOf(responseId).slotAwaitedMs) / 1000);
        return;
      case "request.sent":
        if (event.isStream)
          Object.assign(this.#answerOf(responseId), { sentMs: event.atMs, startedMs: undefined });
        return;
      case "model.started":
        this.#started(responseId, event.atMs);
        return;
      case "model.finished":
        this.#finished(responseId, event);
        return;
      case "call.checked":
        if (event.decision === "reject") this.#metrics.toolCallEnded("rejected");
        return;
      case "turn.finished":
        this.#metrics.toolCallEnded(event.stopReason === "completed" ? "ok" : event.stopReason);
        return;
      default:
    }
  }

  /** The run is over. */
  forget(responseId: string): void {
    this.#open.delete(responseId);
  }

  #answerOf(responseId: string): OpenAnswer {
    const known = this.#open.get(responseId);
    if (known) return known;
    const answer: OpenAnswer = { slotAwaitedMs: 0, sentMs: undefined, startedMs: undefined };
    const [oldest] = this.#open.keys();
    if (this.#open.size >= maxOpen && oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(responseId, answer);
    return answer;
  }

  #started(responseId: string, atMs: number): void {
    const answer = this.#open.get(responseId);
    if (answer?.sentMs === undefined || answer.startedMs !== undefined) return;
    answer.startedMs = atMs;
    this.#metrics.firstTokenCame((atMs - answer.sentMs) / 1000);
  }

  #finished(responseId: string, { usage, atMs }: Extract<RunTraceEvent, { type: "model.finished" }>): void {
    const startedMs = this.#open.get(responseId)?.startedMs;
    this.#open.delete(responseId);
    if (!usage) return;
    this.#metrics.tokensUsed(usage);
    // The first token is not in the time after it.
    const tokens = usage.outputTokens - 1;
    if (startedMs !== undefined && tokens > 0 && atMs > startedMs)
      this.#metrics.answerCame((tokens * 1000) / (atMs - startedMs));
  }
}
