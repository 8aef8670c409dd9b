// The numbers of one server, for Prometheus. None of them names an owner.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

// Watching the process costs a little and cannot be ended, so all servers of a process share it, and it starts
// when someone first looks.
let processRegistry: Registry | undefined;

export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "rondo_http_requests_total",
    help: "Requests that were answered, or left by their client (status 499).",
    labelNames: ["route", "method", "status"],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: "rondo_http_request_duration_seconds",
    help: "Time from a request to the end of its answer.",
    labelNames: ["route", "method"],
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [this.#registry],
  });
  // Looking them up by their labels each time would cost more than counting.
  readonly #requestNumbers = new Map<
    string,
    { count: Counter.Internal; duration: Histogram.Internal<string> }
  >();
  readonly #streams = new Gauge({
    name: "rondo_open_streams",
    help: "Event streams that are open.",
    registers: [this.#registry],
  });
  readonly #runs = new Counter({
    name: "rondo_runs_total",
    help: "Runs that have ended, by their last status.",
    labelNames: ["status"],
    registers: [this.#registry],
  });
  readonly #tokens = new Counter({
    name: "rondo_tokens_total",
    help: "Tokens that the models have read (input) and written (output).",
    labelNames: ["direction"],
    registers: [this.#registry],
  });
  readonly #toolCalls = new Counter({
    name: "rondo_tool_calls_total",
    help: "Tool calls that the server has run, by their outcome.",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #modelErrors = new Counter({
    name: "rondo_model_errors_total",
    help: "Model calls that have failed, by the error's code.",
    labelNames: ["code"],
    registers: [this.#registry],
  });

  /** A request has ended. `route` is the pattern of its path. */
  requestEnded(route: string, method: string, status: number, seconds: number): void {
    const key = `${method} ${status} ${route}`;
    let numbers = this.#requestNumbers.get(key);
    if (numbers === undefined) {
      const count = this.#requests.labels({ route, method, status });
      numbers = { count, duration: this.#durations.labels({ route, method }) };
      this.#requestNumbers.set(key, numbers);
    }
    numbers.count.inc();
    numbers.duration.observe(seconds);
  }

  streamOpened(): void {
    this.#streams.inc();
  }

  streamClosed(): void {
    this.#streams.dec();
  }

  /** A run has ended with this status. */
  runEnded(status: string): void {
    this.#runs.inc({ status });
  }

  /** A model call has cost this much. */
  tokensUsed(input: number, output: number): void {
    this.#tokens.inc({ direction: "input" }, input);
    this.#tokens.inc({ direction: "output" }, output);
  }

  /** A tool call has ended: `ok`, `error`, `timeout`, … */
  toolCallEnded(outcome: string): void {
    this.#toolCalls.inc({ outcome });
  }

  /** A model call has failed. */
  modelFailed(code: string): void {
    this.#modelErrors.inc({ code });
  }

  /** Shows how many background runs wait, and how many work. `read` is asked each time someone looks. */
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
          // Nobody knows. The other numbers are wanted most when the store is down.
          runs.reset();
        }
      },
    });
  }

  /** All numbers in the text format of Prometheus. */
  async text(): Promise<string> {
    if (processRegistry === undefined) {
      processRegistry = new Registry();
      collectDefaultMetrics({ register: processRegistry });
    }
    return `${await this.#registry.metrics()}\n${await processRegistry.metrics()}`;
  }
}
