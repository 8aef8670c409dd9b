// The lines of the log that are shown.

import type { LogLine, LogTail } from "../api/inspect-types.ts";

/** From the least important: a filter shows its level and those after it. */
export const levels = ["debug", "info", "warn", "error"] as const;

export type Level = (typeof levels)[number];

export interface LogFilter {
  readonly level: Level;
  readonly search: string;
}

/** As many as the server keeps. */
const keptLimit = 1_000;
/** More would only make the page slow: a filter finds the others. */
const shownLimit = 400;

/** The lines so far, and where the next ones begin. */
export interface FollowedLog {
  readonly bootId: string;
  readonly next: number;
  readonly lines: readonly LogLine[];
}

/** Reads on. A server that was started again counts from the beginning: then all that it has is read. */
export async function readOn(
  known: FollowedLog | undefined,
  read: (after: number | undefined) => Promise<LogTail>,
): Promise<FollowedLog> {
  let reply = await read(known?.next);
  const isSame = known?.bootId === reply.boot_id;
  if (known && !isSame) reply = await read(undefined);
  const lines = joinLines(isSame ? known.lines : [], reply.data);
  return { bootId: reply.boot_id, next: reply.next, lines };
}

/** Adds lines, and drops the oldest beyond the limit. Lines that are known already are not added again. */
export function joinLines(known: readonly LogLine[], added: readonly LogLine[]): readonly LogLine[] {
  const last = known.at(-1)?.n ?? -1;
  const fresh = added.filter(({ n }) => n > last);
  return fresh.length === 0 ? known : [...known, ...fresh].slice(-keptLimit);
}

/** The latest that fit the filter. */
export function shownLines(lines: readonly LogLine[], { level, search }: LogFilter): readonly LogLine[] {
  const least = levels.indexOf(level);
  const text = search.trim().toLowerCase();
  return lines
    .filter((line) => {
      const index = levels.indexOf(line.level as Level);
      if (index >= 0 && index < least) return false;
      return text === "" || `${line.message} ${fieldsText(line)}`.toLowerCase().includes(text);
    })
    .slice(-shownLimit);
}

/** `method=GET status=200` */
export function fieldsText({ fields }: LogLine): string {
  return Object.entries(fields ?? {})
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}
