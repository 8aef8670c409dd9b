// The events of a trace as lanes with bars: what the waterfall draws. Any beginning of a trace gives a sensible picture:
// what has not ended yet is open until now.

import { errorOf, numberOf, rejectionOf, type TraceEvent, textOf } from "./events.ts";
import { LaneBook, type Mark, type Timeline } from "./lane-book.ts";

export interface LayoutOptions {
  /** The time now, on the clock of the events: where open bars end. */
  readonly now: number;
  /** Whether the run is over: then nothing is open. */
  readonly isOver: boolean;
}

export function layOut(events: readonly TraceEvent[], { now, isOver }: LayoutOptions): Timeline {
  const reader = new TimelineReader();
  for (const event of events) reader.add(event);
  return reader.finish(now, isOver);
}

const lostProcess = "The process that did this ended before it was done.";

const warnings: Readonly<Record<string, string>> = {
  "prompt.cut": "The model server read only a part of the prompt.",
  "prompt.changed":
    "The prompt begins differently than the one before it: the model server's cache does not help.",
  "trace.cut": "The trace reached its limit: what came later is not in it.",
};

class TimelineReader {
  readonly #book = new LaneBook();
  readonly #marks: Mark[] = [];
  /** The doubts of each call, for the lane of its turn. */
  readonly #doubts = new Map<string, readonly string[]>();
  #last = 0;
  #claims = 0;

  add(event: TraceEvent): void {
    const at = Math.max(0, Number.isFinite(event.at) ? event.at : this.#last);
    this.#read(event, at);
    this.#last = Math.max(this.#last, at);
  }

  finish(now: number, isOver: boolean): Timeline {
    const end = isOver ? this.#last : Math.max(this.#last, now);
    return { lanes: this.#book.finish(end, isOver), marks: this.#marks, to: Math.max(1, end) };
  }

  #read(event: TraceEvent, at: number): void {
    const book = this.#book;
    switch (event.type) {
      case "run.queued":
        book.begin(this.#queue(), "queue", event.n, at);
        return;
      case "run.claimed":
        this.#claim(event, at);
        return;
      case "run.finished":
        book.endAll(at);
        return;
      case "run.failed":
        book.endAll(at);
        this.#mark(event, at, "failed", errorOf(event) ?? "The run failed.");
        return;
      case "store.committed": {
        const ms = Math.max(0, numberOf(event, "ms") ?? 0);
        book.addClosed(book.lane("store", "store", "Store"), "store", event.n, Math.max(0, at - ms), at);
        return;
      }
      case "model.away":
        book.begin(book.lane("away", "away", "Model away"), "away", event.n, at, errorOf(event));
        return;
      case "model.back":
        book.end(book.find("away"), at);
        return;
      case "warning":
      case "prompt.cut":
      case "prompt.changed":
      case "trace.cut":
        this.#mark(event, at, "warning", textOf(event, "message") ?? warnings[event.type] ?? event.type);
        return;
      case "approval.asked":
      case "approval.decided":
        this.#approve(event, at);
        return;
      case "call.checked":
        this.#check(event, at);
        return;
      default:
        if (numberOf(event, "answer") !== undefined) this.#answer(event, at);
        else if (textOf(event, "turn_id") !== undefined) this.#turn(event, at);
    }
  }

  #queue() {
    return this.#book.lane("queue", "queue", "Queue");
  }

  #claim(event: TraceEvent, at: number): void {
    this.#claims += 1;
    const queue = this.#queue();
    const wasQueued = this.#book.openIn(queue) !== undefined;
    this.#book.end(queue, at);
    const attempt = Math.max(numberOf(event, "attempt") ?? 1, this.#claims);
    if (attempt === 1) return;
    // The process before is gone: what it did is known until its last event. Then the run waited for this one.
    this.#book.endAll(this.#last, lostProcess);
    if (!wasQueued && at > this.#last) this.#book.addClosed(queue, "queue", event.n, this.#last, at);
    this.#mark(event, at, "resumed", `Resumed by another process (attempt ${attempt})`);
  }

  #approve(event: TraceEvent, at: number): void {
    const callId = textOf(event, "call_id") ?? "";
    const name = textOf(event, "name");
    const label = name === undefined ? "Approval" : `Approval of ${name}`;
    const lane = this.#book.lane(`approval:${callId}`, "approval", label, { callId });
    const isAsked = event.type === "approval.asked";
    if (isAsked || this.#book.openIn(lane) === undefined) this.#book.begin(lane, "approval", event.n, at);
    if (!isAsked) this.#book.end(lane, at, event["approved"] === false ? "Denied." : undefined);
  }

  #answer(event: TraceEvent, at: number): void {
    const book = this.#book;
    const answer = numberOf(event, "answer") ?? 0;
    const lane = book.lane(`answer:${answer}`, "answer", `Answer ${answer + 1}`, { answer });
    const error = errorOf(event);
    switch (event.type) {
      case "model.asked":
        book.begin(lane, "prompt", event.n, at);
        return;
      case "slot.awaited":
        book.drop(lane);
        book.begin(lane, "slot", event.n, at);
        return;
      case "slot.taken":
      case "request.sent":
        if (book.openIn(lane) !== "prompt") book.begin(lane, "prompt", event.n, at);
        return;
      case "request.retried":
        book.end(lane, at, error);
        book.begin(lane, "retry", event.n, at);
        return;
      case "model.started":
        book.begin(lane, "generation", event.n, at);
        return;
      case "model.finished":
        book.end(lane, at);
        return;
      case "model.failed":
        lane.error = error ?? "The model failed.";
        book.end(lane, at, lane.error);
        return;
      default:
    }
  }

  #check(event: TraceEvent, at: number): void {
    const doubts = Array.isArray(event["doubts"]) ? event["doubts"].map(String) : [];
    if (event["decision"] === "reject") this.#mark(event, at, "rejected", rejectionOf(event));
    // A later answer may use the id of a call again.
    this.#doubts.set(textOf(event, "call_id") ?? "", doubts);
    if (doubts.length === 0) return;
    const lane = this.#book.find(`answer:${numberOf(event, "answer")}`);
    if (lane) lane.doubts = [...new Set([...lane.doubts, ...doubts])];
  }

  #turn(event: TraceEvent, at: number): void {
    const book = this.#book;
    const id = `turn:${textOf(event, "turn_id")}`;
    const callId = textOf(event, "call_id");
    if (!book.find(id) && event.type !== "turn.started") return; // its beginning is missing
    const lane = book.lane(
      id,
      "turn",
      textOf(event, "name") ?? "Tool",
      callId === undefined ? {} : { callId },
    );
    switch (event.type) {
      case "turn.started":
      case "lock.taken":
        if (callId !== undefined) lane.doubts = this.#doubts.get(callId) ?? [];
        book.begin(lane, "tool", event.n, at);
        return;
      case "lock.awaited":
        book.begin(lane, "lock", event.n, at);
        return;
      case "turn.finished": {
        const error = errorOf(event);
        if (error !== undefined) lane.error = error;
        book.end(lane, at, error);
        return;
      }
      default:
    }
  }

  #mark(event: TraceEvent, at: number, kind: Mark["kind"], label: string): void {
    this.#marks.push({ id: `${kind}:${event.n}`, at, kind, label });
  }
}
