// The trace of a run, as `GET /v1/responses/{id}/trace` gives it.

/** One thing that happened, `at` so many milliseconds after the start. The other fields depend on the type. */
export interface TraceEvent {
  readonly n: number;
  readonly at: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Trace {
  readonly level: "off" | "timings" | "full";
  readonly started_at_ms: number;
  readonly is_over: boolean;
  /** Whether it reached its limit, so that its end is missing. */
  readonly is_cut: boolean;
  readonly events: readonly TraceEvent[];
}

/** A field, if it is a text. */
export function textOf(event: TraceEvent, field: string): string | undefined {
  const value = event[field];
  return typeof value === "string" ? value : undefined;
}

/** A field, if it is a number that can be drawn. */
export function numberOf(event: TraceEvent, field: string): number | undefined {
  const value = event[field];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The message of the field `error`, which is an object or a text. */
export function errorOf(event: TraceEvent): string | undefined {
  const error = event["error"];
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return undefined;
  const { message, type } = error as { message?: unknown; type?: unknown };
  if (typeof message === "string") return message;
  return typeof type === "string" ? type : "It failed.";
}

/**
 * What became of a call that was rejected. The text that the model received comes first: of a call that ran when its
 * process was lost, only that says that it may have done its work. The code alone is for older traces.
 */
export function rejectionOf(event: TraceEvent): string {
  const call = `Call of ${textOf(event, "name") ?? "a tool"}`;
  const error = errorOf(event);
  if (error !== undefined) return `${call}: ${error}`;
  return `${call} not run: ${textOf(event, "reason") ?? "it was rejected"}`;
}
