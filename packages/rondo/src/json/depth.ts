// How deeply data is nested. Functions that call themselves for each level, `JSON.stringify` among them, end in a
// stack overflow on data that `JSON.parse` has read without any trouble.

import { isPlainObject } from "../error/check.ts";

/** The most levels of what goes through this library. People write less than 20. */
export const maxDataDepth = 1000;

/** Whether plain data has more levels than `max`. Takes no stack, and comes to an end with data that contains itself. */
export function isTooDeep(value: unknown, max: number = maxDataDepth): boolean {
  if (!isData(value)) return false;
  const seen = new Set<object>([value]);
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > max) return true;
    const next: object[] = [];
    for (const outer of level) {
      const parts = Array.isArray(outer) ? (outer as unknown[]) : Object.values(outer);
      for (const part of parts) {
        if (!isData(part) || seen.has(part)) continue;
        seen.add(part);
        next.push(part);
      }
    }
    level = next;
  }
  return false;
}

function isData(value: unknown): value is object {
  return typeof value === "object" && value !== null && (Array.isArray(value) || isPlainObject(value));
}
