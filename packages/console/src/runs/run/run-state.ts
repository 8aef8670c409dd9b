// All that is shown of one run, loaded and, while it runs, followed.

import { batch, signal } from "@preact/signals";
import { ApiError, get, isAbort, stream } from "../../api/api.ts";
import type { Item } from "../../api/response.ts";
import { isRunning, type ResponseObject } from "../../api/response.ts";
import type { Page, RunSummary } from "../../api/types.ts";
import type { Trace, TraceEvent } from "../trace/events.ts";
import { LiveOutput } from "./live-output.ts";

const inputPage = 100;
const threadPage = 50;
const traceMs = 800;
const responseMs = 1_500;
/** The events of one trace that are kept: as many as the server keeps. */
const maxEvents = 25_000;

export class RunState {
  readonly id: string;
  readonly response = signal<ResponseObject | undefined>(undefined);
  readonly error = signal<Error | undefined>(undefined);
  /** Whether also its trace was read, if there is one. */
  readonly isLoaded = signal(false);
  readonly trace = signal<Omit<Trace, "events"> | undefined>(undefined);
  readonly events = signal<readonly TraceEvent[]>([]);
  readonly input = signal<readonly Item[]>([]);
  readonly hasMoreInput = signal(false);
  /** The output, as far as it is known. */
  readonly output = signal<readonly Item[]>([]);
  readonly summary = signal<RunSummary | undefined>(undefined);
  /** The runs of the same thread, from older to newer: some before it, itself, and some after it. */
  readonly thread = signal<readonly RunSummary[]>([]);
  #leaving = new AbortController();
  #isReadingInput = false;

  constructor(id: string) {
    this.id = id;
  }

  /** Loads while it is shown. */
  show(): () => void {
    this.#leaving = new AbortController();
    void this.#load();
    return () => this.#leaving.abort();
  }

  async reload(): Promise<void> {
    await this.#load();
  }

  /** The page of the input before the items that are known. */
  async readMoreInput(): Promise<void> {
    if (this.#isReadingInput || !this.hasMoreInput.peek()) return;
    this.#isReadingInput = true;
    const known = this.input.peek();
    const first = known[0]?.id;
    const page = await this.#optional(this.#inputPage(first));
    if (page)
      batch(() => {
        this.input.value = [...page.data.toReversed(), ...known];
        this.hasMoreInput.value = page.has_more && page.data.length > 0;
      });
    this.#isReadingInput = false;
  }

  /** Reads the runs before and after it, which may have become more. */
  async readThread(): Promise<void> {
    const { signal: leaving } = this.#leaving;
    const runs = (query: Record<string, string>) =>
      get<Page<RunSummary>>(`v1/runs?${new URLSearchParams(query)}`, { signal: leaving });
    const found = await this.#optional(runs({ search: this.id, limit: "1" }));
    const summary = found?.data[0];
    if (summary?.id !== this.id) return;
    this.summary.value = summary;
    const near = { thread: summary.thread_id, order: "asc", limit: String(threadPage) };
    const [before, after] = await Promise.all([
      this.#optional(runs({ ...near, before: this.id })),
      this.#optional(runs({ ...near, after: this.id })),
    ]);
    this.thread.value = [...(before?.data ?? []), summary, ...(after?.data ?? [])];
  }

  async #load(): Promise<void> {
    try {
      const rest = Promise.all([this.#readTrace("whole"), this.#readInput(), this.readThread()]);
      rest.catch(() => {}); // the response's error comes first
      const response = await this.#get<ResponseObject>("");
      this.#setResponse(response);
      this.error.value = undefined;
      await rest;
      this.isLoaded.value = true;
      if (isRunning(response)) await Promise.all([this.#followTrace(), this.#followOutput(response)]);
    } catch (caught) {
      if (this.#leaving.signal.aborted || isAbort(caught)) return;
      this.error.value = caught instanceof Error ? caught : new Error(String(caught));
    }
  }

  #setResponse(response: ResponseObject): void {
    batch(() => {
      this.response.value = response;
      this.output.value = response.output;
    });
  }

  async #followTrace(): Promise<void> {
    while (!this.trace.peek()?.is_over || this.#isRunning()) {
      await this.#pause(traceMs);
      await this.#readTrace("new");
      if (!this.#isRunning()) break;
    }
    await this.#readTrace("whole");
  }

  async #followOutput({ background }: ResponseObject): Promise<void> {
    let live = background ? new LiveOutput() : undefined;
    while (this.#isRunning()) {
      // Only the events of background runs are kept for everyone.
      if (live && !(await this.#readStream(live))) live = undefined;
      if (!live?.isOver) await this.#pause(responseMs);
      await this.#readResponse();
    }
    await this.readThread();
  }

  async #readResponse(): Promise<void> {
    try {
      this.#setResponse(await this.#get<ResponseObject>(""));
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      if (caught.status !== 404) return;
      // It was deleted.
      batch(() => {
        this.response.value = undefined;
        this.error.value = caught;
      });
    }
  }

  /** Whether the stream could be read. */
  async #readStream(live: LiveOutput): Promise<boolean> {
    const after = live.sequence < 0 ? "" : `&starting_after=${live.sequence}`;
    const { signal: leaving } = this.#leaving;
    let frame = 0;
    const draw = () => {
      frame = 0;
      this.output.value = live.take();
    };
    try {
      for await (const event of stream("GET", `${this.#path("")}?stream=true${after}`, undefined, {
        signal: leaving,
      })) {
        live.read(event);
        if (frame === 0) frame = requestAnimationFrame(draw);
        if (live.isOver) break;
      }
      return true;
    } catch (caught) {
      if (leaving.aborted) throw caught;
      return false;
    } finally {
      cancelAnimationFrame(frame);
    }
  }

  /** Events that were not stored yet when their process was lost are replaced by others: then it is read as a whole. */
  async #readTrace(part: "new" | "whole"): Promise<void> {
    const after = part === "whole" ? undefined : this.events.peek().at(-1)?.n;
    const path = after === undefined ? "/trace" : `/trace?after=${after}`;
    const trace = await this.#optional(this.#get<Trace>(path));
    if (!trace) return;
    const { events, ...about } = trace;
    batch(() => {
      this.trace.value = about;
      const known = part === "whole" ? [] : this.events.peek();
      if (part === "whole" || events.length > 0)
        this.events.value = [...known, ...events].slice(0, maxEvents);
    });
  }

  async #readInput(): Promise<void> {
    const page = await this.#optional(this.#inputPage(undefined));
    if (!page) return;
    batch(() => {
      this.input.value = page.data.toReversed();
      this.hasMoreInput.value = page.has_more;
    });
  }

  #inputPage(after: string | undefined): Promise<Page<Item>> {
    const from = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
    return this.#get<Page<Item>>(`/input_items?order=desc&limit=${inputPage}${from}`);
  }

  #isRunning(): boolean {
    const response = this.response.peek();
    return response !== undefined && isRunning(response) && !this.#leaving.signal.aborted;
  }

  #path(rest: string): string {
    return `v1/responses/${encodeURIComponent(this.id)}${rest}`;
  }

  #get<T>(rest: string): Promise<T> {
    return get<T>(this.#path(rest), { signal: this.#leaving.signal });
  }

  /** What is shown if it is there: an old server, or one that is away for a moment, does not have it. */
  async #optional<T>(loading: Promise<T>): Promise<T | undefined> {
    try {
      return await loading;
    } catch (caught) {
      if (caught instanceof ApiError) return undefined;
      throw caught;
    }
  }

  /** Waits; longer while nobody looks. */
  async #pause(ms: number): Promise<void> {
    const { signal: leaving } = this.#leaving;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, document.visibilityState === "visible" ? ms : ms * 10);
      leaving.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          reject(new DOMException("The page was left.", "AbortError"));
        },
        { once: true },
      );
    });
  }
}
