// Puts the events of one run in order, and lets nobody hear of anything before the store has it.
//
// An event goes out at once, unless something before it is still to be written: then it waits for the commit.
// Runs whose events are logged (background runs) write every event, grouped by ticks of the event loop.

import type { EventBody } from "../protocol/events.ts";
import type { OutputItem } from "../protocol/items.ts";
import type { Lease, ResponseUpdate, Step, Store, StoredEvent, StoredOutput } from "../store/store.ts";
import type { EventSink } from "./event-sink.ts";

export interface JournalOptions {
  /** Where the run is kept; nowhere for `store: false`. */
  readonly kept?: { readonly store: Store; readonly lease: Lease } | undefined;
  /** Whether every event is written. */
  readonly logsEvents: boolean;
  /** Who hears of events while they happen. */
  readonly sink?: EventSink | undefined;
  /** Told of the events of each commit, once it is done. */
  readonly onCommit?: ((events: readonly StoredEvent[]) => void) | undefined;
  /** The number of the next event. Default: 0. */
  readonly sequence?: number | undefined;
  /** After how much silence a sign of life is sent. Default: 60,000. */
  readonly keepAliveMs?: number | undefined;
}

/** So many unwritten events hold the run back. */
const mostWaiting = 256;

export class Journal {
  readonly #options: JournalOptions;
  #sequence: number;
  /** How many events have gone out, or were there before. */
  #sent: number;
  #events: Waiting[] = [];
  /** The items that the listener knows to be done, by their places. */
  readonly #told: OutputItem[] = [];
  #output: StoredOutput[] = [];
  #steps: Step[] = [];
  #update: ResponseUpdate | undefined;
  #isDurable = false;
  #isScheduled = false;
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isClosed = false;
  #wasQuiet = false;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #broken = new AbortController();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#sequence = options.sequence ?? 0;
    this.#sent = this.#sequence;
    if (this.#isHeard)
      this.#timer = setInterval(() => this.#keepAlive(), options.keepAliveMs ?? 60_000).unref();
  }

  /** Aborted when the store refuses a write: the run is not ours any more, or cannot be kept. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Adds an event to the stream. */
  emit(body: EventBody): void {
    if (this.#isClosed || this.#failure) return;
    if (!this.#isHeard) return;
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
    if (!this.#isKept || !this.#options.logsEvents) return;
    this.#steps.push(step);
    this.#isDurable = true;
  }

  update(update: ResponseUpdate): void {
    if (!this.#isKept) return;
    this.#update = { ...this.#update, ...update };
    this.#isDurable = true;
  }

  /** Whether something that others shall hear of waits for a commit. */
  get isHeldBack(): boolean {
    return this.#hasWrites && this.#isHeard;
  }

  /** Set while the run must not go on: too much is unwritten, or the reader cannot keep up. */
  get pause(): Promise<void> | undefined {
    if (this.#events.length >= mostWaiting) return this.settle();
    return this.#options.sink?.drained;
  }

  /** Writes all that waits, and then lets it be heard. Throws when the store refuses it. */
  async settle(): Promise<void> {
    // What was added while a commit was under way needs another.
    while (this.#writing || this.#waits) {
      this.#writing ??= this.#write();
      await this.#writing;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** From now on nothing is written or sent any more. */
  close(): void {
    this.#isClosed = true;
    this.#forget();
    clearInterval(this.#timer);
  }

  /**
   * The last words of a run that can no longer be kept: they go to the listener alone, after the last event that
   * it has heard. `say` is given the items that were done by then.
   */
  giveUp(say: (told: OutputItem[]) => readonly EventBody[]): void {
    this.close();
    for (const body of say(this.#told.filter((item) => item !== undefined))) {
      const { type, ...rest } = body;
      const sequence = this.#sent;
      this.#send({ body, sequence, data: JSON.stringify({ type, sequence_number: sequence, ...rest }) });
    }
  }

  #send({ body, data }: Waiting): void {
    this.#sent += 1;
    if (body.type === "response.output_item.done") this.#told[body.output_index] = body.item;
    this.#options.sink?.send(body.type, data);
  }

  get #isHeard(): boolean {
    return this.#options.logsEvents || this.#options.sink !== undefined;
  }

  get #isKept(): boolean {
    return this.#options.kept !== undefined && !this.#isClosed;
  }

  get #hasWrites(): boolean {
    return this.#output.length > 0 || this.#steps.length > 0 || this.#update !== undefined;
  }

  get #waits(): boolean {
    return !this.#failure && (this.#events.length > 0 || this.#hasWrites);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      // A failure is kept, and told by the next settle().
      if (!this.#isClosed) this.settle().catch(() => {});
    });
  }

  async #write(): Promise<void> {
    const events = this.#events;
    const { kept, logsEvents, onCommit } = this.#options;
    const write = {
      ...(logsEvents && { events }),
      output: this.#output,
      steps: this.#steps,
      ...(this.#update && { update: this.#update }),
      isDurable: this.#isDurable,
    };
    const isEmpty = !logsEvents && !this.#hasWrites;
    this.#forget();
    try {
      // Waits in any case: whoever has called takes this for a write under way.
      await (isEmpty ? undefined : kept?.store.commit(kept.lease, write));
    } catch (error) {
      this.#failure = { error };
      this.#broken.abort(error);
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

/** An event on its way. */
interface Waiting extends StoredEvent {
  readonly body: EventBody;
}
