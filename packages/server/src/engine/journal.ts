// Orders the events of one run, and sends nothing before the store has it.
//
// An event is sent at once, unless something before it is still to be written: then it waits for the commit. Runs whose
// events are logged (background runs) write every event, grouped by the store's flush window.

import type { EventBody } from "../protocol/events.ts";
import type { OutputItem } from "../protocol/items.ts";
import type { Lease } from "../store/run-queue.ts";
import type { ResponseUpdate, Step, Store, StoredEvent, StoredOutput } from "../store/store.ts";
import type { EventSink } from "./event-sink.ts";
import type { RunTracer } from "./run-tracer.ts";

export interface JournalOptions {
  /** Where the run is kept; nowhere for `store: false`. */
  readonly kept?: { readonly store: Store; readonly lease: Lease } | undefined;
  /** Whether every event is written. */
  readonly logsEvents: boolean;
  /** Receives the events while they happen. */
  readonly sink?: EventSink | undefined;
  /** Called with the events of each commit, once it is done. */
  readonly onCommit?: ((events: readonly StoredEvent[]) => void) | undefined;
  /** The number of the next event. Default: 0. */
  readonly sequence?: number | undefined;
  /** After how much silence a keep-alive event is sent. Default: 60,000. */
  readonly keepAliveMs?: number | undefined;
  /** What happens in the run: written with commits that are made anyway, unless it is much. Default: nothing is recorded. */
  readonly tracer?: RunTracer | undefined;
}

/** So many unwritten events pause the run. */
const maxUnwritten = 256;

export class Journal {
  readonly #options: JournalOptions;
  #sequence: number;
  /** How many events were sent, or were there before. */
  #sent: number;
  #events: PendingEvent[] = [];
  /** The finished items that were sent, by their index. */
  readonly #doneItems: OutputItem[] = [];
  #output: StoredOutput[] = [];
  #steps: Step[] = [];
  #update: ResponseUpdate | undefined;
  #isDurable = false;
  #isScheduled = false;
  #flushedAtMs = -Infinity;
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;
  #wasQuiet = false;
  readonly #timer: NodeJS.Timeout | undefined;
  #broken: AbortController | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#sequence = options.sequence ?? 0;
    this.#sent = this.#sequence;
    if (this.isHeard)
      this.#timer = setInterval(() => this.#keepAlive(), options.keepAliveMs ?? 60_000).unref();
  }

  /** Aborted when the store refuses a write: the run is not ours any more, or cannot be kept. */
  get broken(): AbortSignal {
    this.#broken ??= new AbortController();
    if (this.#failure) this.#broken.abort(this.#failure.error);
    return this.#broken.signal;
  }

  /** Why the store refused a write, if it did. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get tracer(): RunTracer | undefined {
    return this.#options.tracer;
  }

  /** Whether anyone receives events, now or later. */
  get isHeard(): boolean {
    return this.#options.logsEvents || this.#options.sink !== undefined;
  }

  /** Whether steps are kept. */
  get keepsSteps(): boolean {
    return this.#isKept && this.#options.logsEvents;
  }

  /** Adds an event to the stream. */
  emit(body: EventBody): void {
    if (this.#isClosed || this.#failure) return;
    if (!this.isHeard) return;
    const { type, ...rest } = body;
    const sequence = this.#sequence++;
    const data = JSON.stringify({ type, sequence_number: sequence, ...rest });
    this.#wasQuiet = false;
    if (!this.#options.logsEvents && !this.#hasWrites && !this.#writing) {
      this.#send({ body, sequence, data });
      return;
    }
    this.#events.push({ body, sequence, data });
    if (this.#options.logsEvents) this.#schedule();
  }

  /** Adds a finished item to what the next commit writes. */
  put(output: StoredOutput): void {
    if (!this.#isKept) return;
    this.#output.push(output);
    this.#isDurable = true;
  }

  /** Adds a fact about the run's progress. Only runs that can be resumed have any. */
  step(step: Step): void {
    if (!this.keepsSteps) return;
    this.#steps.push(step);
    this.#isDurable = true;
  }

  update(update: ResponseUpdate): void {
    if (!this.#isKept) return;
    this.#update = { ...this.#update, ...update };
    this.#isDurable = true;
  }

  /** Whether events wait for a commit. */
  get isHeldBack(): boolean {
    return this.#hasWrites && this.isHeard;
  }

  /** Set while the run must pause: too much is unwritten, or the reader cannot keep up. */
  get pause(): Promise<void> | undefined {
    if (this.#events.length >= maxUnwritten || this.#hasLargeTrace) return this.settle();
    return this.#options.sink?.drained;
  }

  /** Writes all that waits, then sends it. Rejects when the store refuses it. Undefined if nothing waits. */
  settle(): Promise<void> | undefined {
    if (!this.#writing && !this.#waits) return this.#failure && Promise.reject(this.#failure.error);
    const { tracer } = this.#options;
    return tracer && this.#isKept ? this.#settleTraced(tracer) : this.#settle();
  }

  async #settleTraced(tracer: RunTracer): Promise<void> {
    const isDurable = this.#isDurable;
    const startedAtMs = performance.now();
    await this.#settle();
    tracer.note({ type: "store.committed", ms: performance.now() - startedAtMs, isDurable });
  }

  async #settle(): Promise<void> {
    // What was added while a commit was in flight needs another.
    while (this.#writing || this.#waits) {
      this.#writing ??= this.#write();
      await this.#writing;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Nothing is written or sent any more. */
  close(): void {
    this.#isClosed = true;
    this.#forget();
    clearInterval(this.#timer);
  }

  /**
   * Closes, and sends the last events of a run that can no longer be kept to its listener alone. `say` gets the finished
   * items that were sent.
   */
  giveUp(say: (doneItems: OutputItem[]) => readonly EventBody[]): void {
    this.close();
    for (const body of say(this.#doneItems.filter((item) => item !== undefined))) {
      const { type, ...rest } = body;
      const sequence = this.#sent;
      this.#send({ body, sequence, data: JSON.stringify({ type, sequence_number: sequence, ...rest }) });
    }
  }

  #send({ body, data }: PendingEvent): void {
    this.#sent += 1;
    if (body.type === "response.output_item.done") this.#doneItems[body.output_index] = body.item;
    this.#options.sink?.send(body.type, data);
  }

  get #isKept(): boolean {
    return this.#options.kept !== undefined && !this.#isClosed;
  }

  get #hasWrites(): boolean {
    return this.#output.length > 0 || this.#steps.length > 0 || this.#update !== undefined;
  }

  get #hasLargeTrace(): boolean {
    return this.#isKept && this.#options.tracer?.isLarge === true;
  }

  get #waits(): boolean {
    return !this.#failure && (this.#events.length > 0 || this.#hasWrites || this.#hasLargeTrace);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const flush = () => {
      this.#isScheduled = false;
      this.#flushedAtMs = performance.now();
      // A failure is kept, and thrown by the next settle().
      if (!this.#isClosed) this.#settle().catch(() => {});
    };
    const windowMs = this.#options.kept?.store.flushWindowMs ?? 0;
    // Not after a pause: the first events of an answer, and those of a slow model, do not wait.
    const waitMs = windowMs === 0 ? 0 : this.#flushedAtMs + windowMs - performance.now();
    if (waitMs > 0) setTimeout(flush, waitMs).unref();
    else setImmediate(flush);
  }

  async #write(): Promise<void> {
    const events = this.#events;
    const { kept, logsEvents, onCommit, tracer } = this.#options;
    // Not with every piece of text: what happened goes with what changed, or before it takes too much memory.
    const trace = this.#hasWrites || this.#hasLargeTrace ? tracer?.take() : undefined;
    const write = {
      ...(logsEvents && { events }),
      output: this.#output,
      steps: this.#steps,
      ...(this.#update && { update: this.#update }),
      ...(trace && { trace }),
      isDurable: this.#isDurable,
    };
    const isEmpty = !logsEvents && !this.#hasWrites && !trace;
    this.#forget();
    try {
      // Awaits in any case: the caller takes this for a write in flight.
      await (isEmpty ? undefined : kept?.store.commit(kept.lease, write));
    } catch (error) {
      this.#failure = { error };
      this.#broken?.abort(error);
      return;
    } finally {
      this.#writing = undefined;
    }
    if (this.#isClosed) return;
    for (const event of events) this.#send(event);
    onCommit?.(events);
  }

  #forget(): void {
    this.#events = [];
    this.#output = [];
    this.#steps = [];
    this.#update = undefined;
    this.#isDurable = false;
  }

  #keepAlive(): void {
    if (this.#wasQuiet) this.emit({ type: "keepalive" });
    this.#wasQuiet = true;
  }
}

/** An event that is not sent yet. */
interface PendingEvent extends StoredEvent {
  readonly body: EventBody;
}
