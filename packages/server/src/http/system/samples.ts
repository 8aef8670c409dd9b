// How the server did lately: a sample every two seconds, the last 15 minutes, in memory. What is sampled is counted
// anyway; only the queue is asked for, and only while somebody looks.

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { SampleReply } from "../../protocol/system.ts";
import type { Store } from "../../store/store.ts";
import type { Metrics } from "../metrics.ts";
import { shortly } from "./shortly.ts";

export const sampleMs = 2000;
const maxSamples = 450;
/** How long after a look the queue is asked for. */
const watchedMs = 60_000;
/** How often the event loop is looked at. */
const resolutionMs = 50;

export interface SamplesOptions {
  readonly metrics: Pick<Metrics, "totals">;
  readonly queue: Pick<Store["queue"], "count">;
}

export class Samples {
  readonly #options: SamplesOptions;
  readonly #samples: SampleReply[] = [];
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly #timer: NodeJS.Timeout;
  #last: { requests: number; inputTokens: number; outputTokens: number };
  #watchedUntilMs = 0;
  #isCounting = false;

  constructor(options: SamplesOptions) {
    this.#options = options;
    this.#last = { ...options.metrics.totals };
    this.#delays.enable();
    this.#timer = setInterval(() => this.take(), sampleMs).unref();
  }

  /** The samples after this time, oldest first. Default: all. */
  read(afterMs = 0): SampleReply[] {
    this.#watchedUntilMs = Date.now() + watchedMs;
    return this.#samples.filter(({ at_ms: atMs }) => atMs > afterMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
  }

  /** Takes a sample now. */
  take(): void {
    const { totals } = this.#options.metrics;
    const { requests, inputTokens, outputTokens, streams } = totals;
    const sample: SampleReply = {
      at_ms: Date.now(),
      requests: requests - this.#last.requests,
      input_tokens: inputTokens - this.#last.inputTokens,
      output_tokens: outputTokens - this.#last.outputTokens,
      first_token_ms: median(totals.firstTokensMs.splice(0)),
      rss_bytes: process.memoryUsage.rss(),
      heap_bytes: process.memoryUsage().heapUsed,
      queued: null,
      running: null,
      streams,
      event_loop_ms: this.#delayMs(),
    };
    this.#last = { requests, inputTokens, outputTokens };
    this.#samples.push(sample);
    if (this.#samples.length > maxSamples) this.#samples.shift();
    if (Date.now() < this.#watchedUntilMs) void this.#countQueue(sample);
  }

  /** The longest time that the event loop was late since the last sample. */
  #delayMs(): number {
    const { max } = this.#delays;
    this.#delays.reset();
    return Math.max(0, Math.round((max / 1e6 - resolutionMs) * 10) / 10);
  }

  /** Adds what comes of it to the sample. One count at a time: a store that hangs gets no more work. */
  async #countQueue(sample: SampleReply): Promise<void> {
    if (this.#isCounting) return;
    this.#isCounting = true;
    const counting = this.#options.queue.count().finally(() => {
      this.#isCounting = false;
    });
    const counts = await shortly(counting, sampleMs);
    if (counts) Object.assign(sample, { queued: counts.queued, running: counts.running });
  }
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return middle === undefined ? null : Math.round(middle * 10) / 10;
}
