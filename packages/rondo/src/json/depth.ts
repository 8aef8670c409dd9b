// Limits the depth of data. `JSON.parse` reads any depth, but recursive functions such as `JSON.stringify` then
// overflow the stack.

import { isPlainObject } from "../error/check.ts";

/** The maximum depth of data in this library. People write less than 20 levels. */
export const maxDataDepth = 1000;

/** Whether a plain object has no objects in it, as most inputs of tools: then there is nothing to walk. */
export function isFlat(value: unknown): value is Record<string, unknown> {
  if (!isPlainObject(value)) return false;
  for (const key in value) {
    const part = value[key];
    if (typeof part === "object" && part !== null) return false;
  }
  return true;
}

/** Whether plain data has more levels than `max`. Not recursive; handles cycles. */
export function isTooDeep(value: unknown, max: number = maxDataDepth): boolean {
  if (!isData(value)) return false;
  if (isFlat(value)) return max < 1;
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
