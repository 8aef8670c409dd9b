// Rejects JSON that is nested so deeply, or has lists so long, that walking it would block or crash the server.

import { type ApiError, invalidRequest } from "./api-error.ts";
import { formatPath } from "./field-error.ts";

/** Far more than requests need; far less than `JSON.stringify` can take. */
const maxDepth = 200;

/** No list of a request needs more, unless a setting allows more items. */
const usualEntries = 10_000;

/**
 * Throws a 400 for more than 200 levels, or more than 10,000 entries, or `allowed` if that is more, in one list or
 * object, or more than `maxParts` lists and objects in one field. Does not recurse.
 */
export function checkSize(body: unknown, allowed = 0, maxParts = Infinity): void {
  const maxEntries = Math.max(usualEntries, allowed);
  if (typeof body !== "object" || body === null) return;
  const fields = Object.entries(body);
  if (fields.length > maxEntries) throw tooLong(null, maxEntries, fields.length);
  for (const [field, value] of fields)
    if (typeof value === "object" && value !== null)
      checkField(formatPath([field]), value, maxEntries, maxParts);
}

function checkField(field: string, value: object, maxEntries: number, maxParts: number): void {
  let level: object[] = [value];
  let parts = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth)
      throw invalidRequest(
        field,
        `${field}: expected JSON that is at most ${maxDepth} levels deep, got more. Send it less nested.`,
      );
    parts += level.length;
    if (parts > maxParts)
      throw invalidRequest(
        field,
        `${field}: expected at most ${maxParts} lists and objects in all, got more. Send less.`,
      );
    const next: object[] = [];
    for (const outer of level) {
      if (Array.isArray(outer) && outer.length > maxEntries) throw tooLong(field, maxEntries, outer.length);
      if (Array.isArray(outer)) addEntries(outer, next);
      else if (addFields(outer, next) > maxEntries)
        throw tooLong(field, maxEntries, Object.keys(outer).length);
    }
    level = next;
  }
}

/** Adds the lists and objects of a list. */
function addEntries(list: readonly unknown[], next: object[]): void {
  for (const entry of list) if (typeof entry === "object" && entry !== null) next.push(entry);
}

/** The same for an object; returns how many fields it has. A list of its keys would be garbage, for each of them. */
function addFields(fields: object, next: object[]): number {
  let count = 0;
  for (const key in fields) {
    const entry = (fields as Readonly<Record<string, unknown>>)[key];
    if (typeof entry === "object" && entry !== null) next.push(entry);
    count += 1;
  }
  return count;
}

function tooLong(field: string | null, max: number, count: number): ApiError {
  return invalidRequest(
    field,
    `${field ?? "The body"}: expected at most ${max} entries in a list or an object, got ${count}. Send fewer.`,
  );
}
