// Finds what is unusable in valid JSON: numbers beyond a double, and nesting that would overflow the stack of code
// that walks the value.

import { isFlat } from "./depth.ts";

const tooLarge = "a number that is too large";

/** The maximum depth of JSON from a model. */
export const maxJsonDepth = 200;

/** What makes the value unusable, worded to follow "received"; undefined if nothing does. Not recursive. */
export function jsonFlaw(value: unknown): string | undefined {
  if (isFlat(value)) return hasHugeNumber(value) ? tooLarge : undefined;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxJsonDepth) return `JSON that is nested more than ${maxJsonDepth} levels deep`;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "number" && !Number.isFinite(item)) return tooLarge;
      if (typeof item !== "object" || item === null) continue;
      for (const child of Array.isArray(item) ? (item as unknown[]) : Object.values(item)) {
        if (typeof child === "number" || typeof child === "object") next.push(child);
      }
    }
    level = next;
  }
  return undefined;
}

function hasHugeNumber(value: Readonly<Record<string, unknown>>): boolean {
  for (const key in value) if (typeof value[key] === "number" && !Number.isFinite(value[key])) return true;
  return false;
}
