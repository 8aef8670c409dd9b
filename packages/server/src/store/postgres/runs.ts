// The list of runs: short rows, without the requests.

import { unknownCursor } from "../rules.ts";
import { maxScanned, planScan, type RunScan } from "../run-scan.ts";
import type { ListRunsOptions, RunSummary, ScannedPage, TracePiece } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";
import type { ResponseRow } from "./rows.ts";
import { fromDbText, toDbText } from "./text.ts";

interface RunRow extends Omit<ResponseRow, "owner" | "request" | "incomplete_reason"> {
  readonly title: string | null;
  readonly source: string | null;
  readonly thread_id: string;
}

// Older nodes do not name threads.
const threadOf = (r: string) =>
  `coalesce(${r}.thread_id, ${r}.conversation_id, ${r}.previous_response_id, ${r}.id)`;

const columns = `r.id, r.status, r.is_background, r.model, r.created_at_ms, r.completed_at_ms, r.previous_response_id,
  r.error, r.usage, r.title, r.source, ${threadOf("r")} AS thread_id, r.thread_id IS NULL AS names_no_thread`;

/**
 * Whether it is the oldest of its thread that is kept: the one that began it may have been removed. Not with EXISTS, which
 * may be planned as a join with all responses. `$1` is the owner.
 */
const isFirst = (s: string) => `(r.thread_id = r.id OR (
  (SELECT 1 FROM ${s}.responses f WHERE f.id = r.thread_id AND f.owner = $1
    AND (r.names_no_thread OR ${threadOf("f")} = f.id) LIMIT 1) IS NULL
  AND (SELECT 1 FROM ${s}.responses o WHERE o.owner = $1 AND o.thread_id = r.thread_id
    AND (o.created_at_ms, o.id) < (r.created_at_ms, r.id) LIMIT 1) IS NULL))`;

type AddValue = (value: unknown) => string;

export async function listRuns(
  db: PostgresConnection,
  owner: string,
  options: ListRunsOptions,
): Promise<ScannedPage<RunSummary>> {
  const { limit, order, after, before } = options;
  const scan = planScan(options);
  const isFromEnd = before !== undefined && after === undefined;
  const direction = (order === "asc") === isFromEnd ? "DESC" : "ASC";
  const values: unknown[] = [toDbText(owner)];
  const value: AddValue = (given) => `$${values.push(given)}`;
  const places = await readPlaces(db, owner, options);
  const conditions = [...readConditions(options, scan, value), ...cursors(options, places, value)];
  const from = `FROM ${db.schema}.responses r WHERE ${conditions.join(" AND ")}
    ORDER BY r.created_at_ms ${direction}, r.id ${direction}`;
  const scanned = [...values];
  const page = scan.isFiltered
    ? `SELECT * FROM (SELECT ${columns} ${from} LIMIT ${maxScanned}) r
        WHERE ${checkConditions(db.schema, options, scan, value).join(" AND ")} LIMIT ${value(limit + 1)}`
    : `SELECT ${columns} ${from} LIMIT ${value(limit + 1)}`;
  const rows = await db.read<RunRow>(page, values);
  const data = rows.slice(0, limit).map(toSummary);
  const [unread] =
    rows.length > limit || !scan.isFiltered
      ? []
      : await db.read<{ id: string }>(`SELECT r.id ${from} LIMIT 1 OFFSET ${maxScanned - 1}`, scanned);
  const next = rows.length > limit ? data.at(-1)?.id : unread && fromDbText(unread.id);
  return { data: isFromEnd ? data.toReversed() : data, hasMore: next !== undefined, next };
}

/** What leads to the rows. `$1` is the owner. */
function readConditions(options: ListRunsOptions, { by, idRange }: RunScan, value: AddValue): string[] {
  const { thread = "", createdAfterMs, createdBeforeMs } = options;
  return [
    "r.owner = $1",
    ...(idRange ? [`r.id >= ${value(idRange[0])} AND r.id < ${value(idRange[1])}`] : []),
    ...(by === "thread"
      ? [threadCondition(value(toDbText(thread)))]
      : by
        ? [equals(by, options, value)]
        : []),
    ...(createdAfterMs === undefined ? [] : [`r.created_at_ms > ${value(createdAfterMs)}`]),
    ...(createdBeforeMs === undefined ? [] : [`r.created_at_ms < ${value(createdBeforeMs)}`]),
  ];
}

/** Its first response names no thread, unless that is a conversation. */
function threadCondition(thread: string): string {
  return `(r.thread_id = ${thread} OR (r.id = ${thread} AND r.thread_id IS NULL))`;
}

/** What is checked of each row. */
function checkConditions(
  schema: string,
  options: ListRunsOptions,
  { checked, title }: RunScan,
  value: AddValue,
): string[] {
  return [
    ...checked.map((name) => equals(name, options, value)),
    ...(options.onlyRoots ? [isFirst(schema)] : []),
    ...(title ? [`r.title ~ ${value(patternOf(title))}`] : []),
  ];
}

function equals(name: RunScan["checked"][number], options: ListRunsOptions, value: AddValue): string {
  if (name === "background") return `r.is_background = ${value(options.background)}`;
  return `r.${name} = ${value(toDbText(options[name] ?? ""))}`;
}

type Places = Readonly<Record<"after" | "before", number | undefined>>;

/** The age of the cursors: known before the page is planned, so that it is read from there on. */
async function readPlaces(
  db: PostgresConnection,
  owner: string,
  { after, before }: ListRunsOptions,
): Promise<Places> {
  if (after === undefined && before === undefined) return { after: undefined, before: undefined };
  const [row] = await db.read<Record<"after_ms" | "before_ms", number | null>>(
    `SELECT (SELECT created_at_ms FROM ${db.schema}.responses WHERE owner = $1 AND id = $2) AS after_ms,
       (SELECT created_at_ms FROM ${db.schema}.responses WHERE owner = $1 AND id = $3) AS before_ms`,
    [toDbText(owner), toDbText(after ?? ""), toDbText(before ?? "")],
  );
  const known = (parameter: "after" | "before", id: string | undefined, found: number | null | undefined) => {
    if (id === undefined) return undefined;
    if (found === null || found === undefined) throw unknownCursor(parameter, id);
    return found;
  };
  return { after: known("after", after, row?.after_ms), before: known("before", before, row?.before_ms) };
}

function cursors({ order, after, before }: ListRunsOptions, places: Places, value: AddValue): string[] {
  const [later, earlier] = order === "asc" ? [">", "<"] : ["<", ">"];
  const bound = (id: string | undefined, ms: number | undefined, comparison: string) =>
    id === undefined
      ? []
      : [`(r.created_at_ms, r.id) ${comparison} (${value(ms)}::bigint, ${value(toDbText(id))})`];
  return [...bound(after, places.after, later), ...bound(before, places.before, earlier)];
}

/** Only letters have more than one spelling, so that nothing in brackets has to be escaped. */
function patternOf(title: NonNullable<RunScan["title"]>): string {
  const parts = title.map(([first = "", ...others]) => {
    if (others.length > 0) return `[${first}${others.join("")}]`;
    return /[^\w\s]/.test(first) && first < "\u0080" ? `\\${first}` : first;
  });
  return parts.join("").replaceAll("\u0000", " ");
}

function toSummary(row: RunRow): RunSummary {
  return {
    id: fromDbText(row.id),
    status: row.status,
    background: row.is_background,
    model: fromDbText(row.model),
    createdAtMs: row.created_at_ms,
    completedAtMs: row.completed_at_ms,
    previousResponseId: row.previous_response_id === null ? null : fromDbText(row.previous_response_id),
    error: row.error === null ? null : JSON.parse(row.error),
    usage: row.usage === null ? null : JSON.parse(row.usage),
    title: row.title,
    source: row.source === null ? null : fromDbText(row.source),
    threadId: fromDbText(row.thread_id),
  };
}

export async function readTrace(
  db: PostgresConnection,
  owner: string,
  id: string,
  after: number,
): Promise<TracePiece[]> {
  return db.read<TracePiece>(
    `SELECT t.first, t.last, t.lines FROM ${db.schema}.responses r
      JOIN ${db.schema}.traces t ON t.response_key = r.key
      WHERE r.id = $1 AND r.owner = $2 AND t.last > $3 ORDER BY t.last`,
    [toDbText(id), toDbText(owner), after],
  );
}
