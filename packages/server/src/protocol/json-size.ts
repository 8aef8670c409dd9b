// Refuses JSON that is nested so deeply, or has lists so long, that looking at it would block or break the server.

import { type ApiError, invalidRequest } from "./api-error.ts";
import { formatPath } from "./field-error.ts";

/** Far more than people write; far less than `JSON.stringify` can take. */
const maxDepth = 200;

/** Throws a 400 for more than 200 levels, or more than `maxEntries` in one list or object. Needs no stack itself. */
export function checkSize(body: unknown, maxEntries: number): void {
  if (typeof body !== "object" || body === null) return;
  const fields = Object.entries(body);
  if (fields.length > maxEntries) throw tooLong(null, maxEntries, fields.length);
  for (const [field, value] of fields)
    if (typeof value === "object" && value !== null) checkField(formatPath([field]), value, maxEntries);
}

function checkField(field: string, value: object, maxEntries: number): void {
  let level: object[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth)
      throw invalidRequest(
        field,
        `${field}: expected JSON that is at most ${maxDepth} levels deep, got more. Send it less nested.`,
      );
    const next: object[] = [];
    for (const outer of level) {
      const inner = Object.values(outer);
      if (inner.length > maxEntries) throw tooLong(field, maxEntries, inner.length);
      for (const entry of inner) if (typeof entry === "object" && entry !== null) next.push(entry);
    }
    level = next;
  }
}

function tooLong(field: string | null, max: number, count: number): ApiError {
  return invalidRequest(
    field,
    `${field ?? "The body"}: expected at most ${max} entries in a list or an object, got ${count}. Send fewer.`,
  );
}
