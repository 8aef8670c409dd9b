// The list of runs: short rows, without the requests.

import type { SQLInputValue } from "node:sqlite";
import { unknownCursor } from "../rules.ts";
import { maxScanned, planScan, type RunScan } from "../run-scan.ts";
import type { ListRunsOptions, RunSummary, ScannedPage, TracePiece } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import type { ResponseRow } from "./rows.ts";

interface RunRow extends Omit<ResponseRow, "key" | "owner" | "request" | "incomplete_reason"> {
  readonly title: string | null;
  readonly source: string | null;
  readonly thread_id: string;
}

const columns = `r.id, r.status, r.is_background, r.model, r.created_at_ms, r.completed_at_ms, r.previous_response_id,
  r.error, r.usage, r.title, r.source, coalesce(r.thread_id, r.id) AS thread_id`;

/** Whether it is the oldest of its thread that is kept: the one that began it may have been removed. */
const isFirst = `(r.thread_id = r.id OR (
  NOT EXISTS (SELECT 1 FROM responses f WHERE f.id = r.thread_id AND f.owner = ?
    AND coalesce(f.thread_id, f.id) = f.id)
  AND NOT EXISTS (SELECT 1 FROM responses o WHERE o.owner = ? AND o.thread_id = r.thread_id
    AND (o.created_at_ms, o.id) < (r.created_at_ms, r.id))))`;

type Condition = readonly [sql: string, ...values: SQLInputValue[]];

export function listRuns(
  db: SqliteConnection,
  owner: string,
  options: ListRunsOptions,
): ScannedPage<RunSummary> {
  const { limit, order, after, before } = options;
  const scan = planScan(options);
  const isFromEnd = before !== undefined && after === undefined;
  const direction = (order === "asc") === isFromEnd ? "DESC" : "ASC";
  const read = [...readConditions(owner, options, scan), ...cursors(db, owner, options)];
  const { sql, values } = readFrom(read, owner, scan.by === "thread" ? options.thread : undefined);
  const from = `FROM ${sql} ORDER BY r.created_at_ms ${direction}, r.id ${direction}`;
  const checks = joined(checkConditions(owner, options, scan));
  // One more row than requested shows whether there are more.
  const rows = scan.isFiltered
    ? db.all<RunRow>(
        `SELECT * FROM (SELECT * ${from} LIMIT ${maxScanned}) r WHERE ${checks.sql} LIMIT ?`,
        ...values,
        ...checks.values,
        limit + 1,
      )
    : db.all<RunRow>(`SELECT * ${from} LIMIT ?`, ...values, limit + 1);
  const data = rows.slice(0, limit);
  const [unread] =
    rows.length > limit || !scan.isFiltered
      ? []
      : db.all<{ id: string }>(`SELECT r.id ${from} LIMIT 1 OFFSET ${maxScanned - 1}`, ...values);
  const next = rows.length > limit ? data.at(-1)?.id : unread?.id;
  return {
    data: (isFromEnd ? data.toReversed() : data).map(toSummary),
    hasMore: next !== undefined,
    next,
  };
}

/** The rows that a page is read from, as a table `r`. */
function readFrom(
  conditions: readonly Condition[],
  owner: string,
  thread: string | undefined,
): { sql: string; values: SQLInputValue[] } {
  const rowsOf = (...more: readonly Condition[]) => {
    const { sql, values } = joined([...more, ...conditions]);
    return { sql: `SELECT ${columns} FROM responses r WHERE ${sql}`, values };
  };
  if (thread === undefined) {
    const { sql, values } = rowsOf();
    return { sql: `(${sql}) r`, values };
  }
  // Its first response names no thread, unless that is a conversation. Both are read in the order of the list.
  const named = rowsOf(["r.owner = ? AND r.thread_id = ?", owner, thread]);
  const first = rowsOf(["r.id = ? AND r.thread_id IS NULL", thread]);
  return { sql: `(${named.sql} UNION ALL ${first.sql}) r`, values: [...named.values, ...first.values] };
}

/** What leads to the rows; for those of a thread, `readFrom` does. */
function readConditions(owner: string, options: ListRunsOptions, { by, idRange }: RunScan): Condition[] {
  const { createdAfterMs, createdBeforeMs } = options;
  return [
    // To a few ids, the index of the owner would be the longer way.
    [idRange || by === "thread" ? "+r.owner = ?" : "r.owner = ?", owner],
    ...(idRange ? [["r.id >= ? AND r.id < ?", ...idRange] as const] : []),
    ...(by && by !== "thread" ? [equals(by, options)] : []),
    ...(createdAfterMs === undefined ? [] : [["r.created_at_ms > ?", createdAfterMs] as const]),
    ...(createdBeforeMs === undefined ? [] : [["r.created_at_ms < ?", createdBeforeMs] as const]),
  ];
}

/** What is checked of each row. */
function checkConditions(owner: string, options: ListRunsOptions, { checked, title }: RunScan): Condition[] {
  return [
    ...checked.map((name) => equals(name, options)),
    ...(options.onlyRoots ? [[isFirst, owner, owner] as const] : []),
    ...(title ? [["r.title GLOB ?", globOf(title)] as const] : []),
  ];
}

function equals(name: RunScan["checked"][number], options: ListRunsOptions): Condition {
  if (name === "background") return ["r.is_background = ?", Number(options.background)];
  return [`r.${name} = ?`, options[name] ?? null];
}

function cursors(
  db: SqliteConnection,
  owner: string,
  { order, after, before }: ListRunsOptions,
): Condition[] {
  const bound = (parameter: "after" | "before", id: string | undefined, comparison: string): Condition[] => {
    if (id === undefined) return [];
    const [row] = db.all<{ created_at_ms: number }>(
      "SELECT created_at_ms FROM responses WHERE id = ? AND owner = ?",
      id,
      owner,
    );
    if (!row) throw unknownCursor(parameter, id);
    return [[`(r.created_at_ms, r.id) ${comparison} (?, ?)`, row.created_at_ms, id]];
  };
  const [later, earlier] = order === "asc" ? [">", "<"] : ["<", ">"];
  return [...bound("after", after, later), ...bound("before", before, earlier)];
}

function joined(conditions: readonly Condition[]): { sql: string; values: SQLInputValue[] } {
  return {
    sql: conditions.map(([sql]) => sql).join(" AND "),
    values: conditions.flatMap(([, ...values]) => values),
  };
}

/** Only letters have more than one spelling, so that nothing in brackets has to be escaped. */
function globOf(title: NonNullable<RunScan["title"]>): string {
  const parts = title.map(([first = "", ...others]) => {
    if (others.length > 0) return `[${first}${others.join("")}]`;
    return "*?[".includes(first) ? `[${first}]` : first;
  });
  return `*${parts.join("")}*`;
}

function toSummary(row: RunRow): RunSummary {
  return {
    id: row.id,
    status: row.status,
    background: row.is_background === 1,
    model: row.model,
    createdAtMs: row.created_at_ms,
    completedAtMs: row.completed_at_ms,
    previousResponseId: row.previous_response_id,
    error: row.error === null ? null : JSON.parse(row.error),
    usage: row.usage === null ? null : JSON.parse(row.usage),
    title: row.title,
    source: row.source,
    threadId: row.thread_id,
  };
}

export function readTrace(db: SqliteConnection, owner: string, id: string, after: number): TracePiece[] {
  return db
    .all<TracePiece>(
      `SELECT t.first, t.last, t.lines FROM responses r JOIN traces t ON t.response_key = r.key
        WHERE r.id = ? AND r.owner = ? AND t.last > ? ORDER BY t.last`,
      id,
      owner,
      after,
    )
    .map(({ first, last, lines }) => ({ first, last, lines }));
}
