// The filters of the list of runs: in the place's query, so that reload and back keep them, and in the request.

import type { RunStatus } from "../../api/types.ts";

export interface RunFilters {
  readonly search: string;
  readonly status: RunStatus | "";
  readonly model: string;
  readonly background: "" | "true" | "false";
  readonly source: string;
  /** How long ago they began at most, such as `1h`, or nothing. */
  readonly since: string;
}

const names = ["search", "status", "model", "background", "source", "since"] as const;

/** How far back, in words and in milliseconds. */
export const periods: readonly (readonly [value: string, words: string, ms: number])[] = [
  ["15m", "Last 15 minutes", 15 * 60_000],
  ["1h", "Last hour", 3_600_000],
  ["1d", "Last 24 hours", 24 * 3_600_000],
  ["7d", "Last 7 days", 7 * 24 * 3_600_000],
  ["30d", "Last 30 days", 30 * 24 * 3_600_000],
];

export const statuses: readonly (readonly [value: RunStatus, words: string])[] = [
  ["in_progress", "Running"],
  ["queued", "Queued"],
  ["requires_action", "Waits for you"],
  ["completed", "Completed"],
  ["incomplete", "Incomplete"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
];

export function readFilters(query: URLSearchParams): RunFilters {
  const { search = "", model = "", source = "" } = Object.fromEntries(query);
  const status = statuses.find(([value]) => value === query.get("status"))?.[0] ?? "";
  const background = query.get("background");
  return {
    search,
    status,
    model,
    background: background === "true" || background === "false" ? background : "",
    source,
    since: periods.find(([value]) => value === query.get("since"))?.[0] ?? "",
  };
}

/** What stands in the place: only what is set. */
export function toPlaceQuery(filters: RunFilters): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (filters[name] === "" ? [] : [[name, filters[name]]])));
}

/** The query of `GET /v1/runs`. */
export function toRequestQuery({ since, ...filters }: RunFilters, nowMs: number): URLSearchParams {
  const query = new URLSearchParams(toPlaceQuery({ ...filters, since: "" }));
  const period = periods.find(([value]) => value === since);
  if (period) query.set("created_after_ms", String(Math.max(0, nowMs - period[2])));
  return query;
}
