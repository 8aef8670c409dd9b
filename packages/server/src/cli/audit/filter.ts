// Which lines of the audit log are shown.

import { InvalidArgumentError } from "commander";
import type { AuditLine } from "../../audit/read-log.ts";

export interface FilterFlags {
  readonly owner?: string;
  readonly action?: string;
  readonly response?: string;
  readonly since?: number;
  readonly until?: number;
}

export function lineFilter({ owner, action, response, since, until }: FilterFlags) {
  return (line: AuditLine): boolean => {
    if (owner !== undefined && line.owner !== owner && line.owner !== `key:${owner}`) return false;
    if (action !== undefined && line.action !== action && !line.action.startsWith(`${action}.`)) return false;
    if (response !== undefined && !isOfResponse(line, response)) return false;
    if (since === undefined && until === undefined) return true;
    const atMs = Date.parse(line.time);
    return atMs >= (since ?? -Infinity) && atMs < (until ?? Infinity);
  };
}

/** Requests name a response in their path. */
function isOfResponse({ response_id: id, target }: AuditLine, wanted: string): boolean {
  return [id, target].some((it) => typeof it === "string" && it.startsWith(wanted));
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A moment in ms: `2026-11-17`, `2026-11-17T09:30`, UTC without a zone, or `30m`: so long ago. */
export function moment(value: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  if (amount !== undefined) return Date.now() - Number(amount) * unitMs[unit as keyof typeof unitMs];
  const isBare = /T[\d:.]+$/.test(value);
  const atMs = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(isBare ? `${value}Z` : value) : Number.NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw new InvalidArgumentError("Expected a time such as 2026-11-17T09:30 (UTC), or 30m, 2h, 7d ago.");
}
