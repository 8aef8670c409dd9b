// The metrics of one server, for Prometheus. None of them names an owner.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Usage } from "rondo";

// Process metrics cost a little and cannot be stopped, so all servers of a process share them, from the first scrape on.
let processRegistry: Registry | undefined;

/** What happened since the start, for the samples of the console: plain numbers, which cost nothing to count. */
export interface Totals {
  /** Requests to the API that ended, without those of the console itself. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** Open now. */
  streams: number;
  /** How long models took to begin their answers, since somebody last took these out. At most 1,000. */
  readonly firstTokensMs: number[];
}

type Labels = Record<string, string | number>;

interface RequestCount {
  readonly labels: Labels;
  readonly duration: Histogram.Internal<string>;
  readonly isOfApi: boolean;
  count: number;
}

/** Nobody takes them out where there is no console. */
const maxFirstTokens = 1000;

export class Metrics {
  readonly totals: Totals = { requests: 0, inputTokens: 0, outputTokens: 0, streams: 0, firstTokensMs: [] };
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();
  readonly #durations = new Histogram({
    name: "rondo_http_request_duration_seconds",
    help: "Time from a request to the end of its reply.",
    labelNames: ["route", "method"],
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [this.#registry],
  });
  /** By method, status and route. */
  readonly #requests = new Map<string, RequestCount>();
  readonly #streams = new Gauge({
    name: "rondo_open_streams",
    help: "Open event streams.",
    registers: [this.#registry],
  });
  readonly #runs = new Map<string, number>();
  #cachedTokens = 0;
  readonly #toolCalls = this.#counter(
    "rondo_tool_calls_total",
    "Tool calls that the server has run, by their outcome.",
    ["outcome"],
  );
  readonly #modelErrors = this.#counter(
    "rondo_model_errors_total",
    "Model calls that failed, by the error's code.",
    ["code"],
  );

  readonly #firstTokens = this.#histogram(
    "rondo_first_token_seconds",
    "Time from a request to a model, as it went out, to the first token of its streamed answer.",
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  );
  readonly #tokenRates = this.#histogram(
    "rondo_tokens_per_second",
    "How fast streamed answers came, from their first token to their last.",
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  );
  readonly #slotWaits = this.#histogram(
    "rondo_slot_wait_seconds",
    "How long requests waited for a slot of their model server, of those that had to.",
    [0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
  );

  #histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.#registry] });
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  constructor() {
    this.#sums(
      "rondo_http_requests_total",
      "Requests that were answered, or left by their client (status 499).",
      ["route", "method", "status"],
      () => Array.from(this.#requests.values(), ({ labels, count }) => [labels, count]),
    );
    this.#sums("rondo_runs_total", "Runs that ended, by their last status.", ["status"], () =>
      Array.from(this.#runs, ([status, count]) => [{ status }, count]),
    );
    this.#sums(
      "rondo_tokens_total",
      "Tokens that the models have read (input) and written (output), and how many of the input were cached.",
      ["direction"],
      () => {
        const { inputTokens: input, outputTokens: output } = this.totals;
        return Object.entries({ input, output, cached: this.#cachedTokens })
          .filter(([, count]) => count > 0)
          .map(([direction, count]) => [{ direction }, count]);
      },
    );
  }

  /** A counter that is only asked on a scrape: to look labels up each time would cost more than to count. */
  #sums(name: string, help: string, labelNames: string[], read: () => (readonly [Labels, number])[]): void {
    const counter = new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        counter.reset();
        for (const [labels, count] of read()) counter.inc(labels, count);
      },
    });
  }

  /** Counts a request that ended. `route` is the pattern of its path. */
  requestEnded(route: string, method: string, status: number, seconds: number): void {
    const key = `${method} ${status} ${route}`;
    let numbers = this.#requests.get(key);
    if (numbers === undefined) {
      const labels = { route, method, status };
      const isOfApi = /^\/v1\/(?!system\b|tools\b)/.test(route);
      numbers = { labels, count: 0, duration: this.#durations.labels({ route, method }), isOfApi };
      this.#requests.set(key, numbers);
    }
    if (numbers.isOfApi) this.totals.requests += 1;
    numbers.count += 1;
    numbers.duration.observe(seconds);
  }

  streamOpened(): void {
    this.totals.streams += 1;
    this.#streams.inc();
  }

  streamClosed(): void {
    this.totals.streams -= 1;
    this.#streams.dec();
  }

  runEnded(status: string): void {
    this.#runs.set(status, (this.#runs.get(status) ?? 0) + 1);
  }

  /** Adds the tokens of a model call. */
  tokensUsed({ inputTokens, outputTokens, cachedTokens }: Usage): void {
    this.totals.inputTokens += inputTokens;
    this.totals.outputTokens += outputTokens;
    if (cachedTokens !== undefined) this.#cachedTokens += cachedTokens;
  }

  /** Counts a tool call by its outcome: `ok`, `error`, `timeout`, … */
  toolCallEnded(outcome: string): void {
    this.#toolCalls.inc({ outcome });
  }

  firstTokenCame(seconds: number): void {
    const { firstTokensMs } = this.totals;
    if (firstTokensMs.length < maxFirstTokens) firstTokensMs.push(seconds * 1000);
    this.#firstTokens.observe(seconds);
  }

  answerCame(tokensPerSecond: number): void {
    this.#tokenRates.observe(tokensPerSecond);
  }

  slotTaken(waitSeconds: number): void {
    this.#slotWaits.observe(waitSeconds);
  }

  modelFailed(code: string): void {
    this.#modelErrors.inc({ code });
  }

  /** Shows how many background runs are queued and running. `read` is called on each scrape. */
  watchQueue(read: () => Promise<{ queued: number; running: number }>): void {
    const runs = new Gauge({
      name: "rondo_background_runs",
      help: "Background runs that wait for a worker (queued), and that have begun and are not over (running).",
      labelNames: ["state"],
      registers: [this.#registry],
      async collect() {
        try {
          const { queued, running } = await read();
          runs.set({ state: "queued" }, queued);
          runs.set({ state: "running" }, running);
        } catch {
          // Unknown. The other metrics matter most when the store is down.
          runs.reset();
        }
      },
    });
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    if (processRegistry === undefined) {
      processRegistry = new Registry();
      collectDefaultMetrics({ register: processRegistry });
    }
    return `${await this.#registry.metrics()}\n${await processRegistry.metrics()}`;
  }
}
