// Canonical texts of values: equal values have equal texts, so that many can be compared in linear time.

import type { Validation } from "./validation.ts";

/** Independent of the order of keys. Values that JSON lacks differ from all JSON values. */
export function canonical(value: unknown, validation: Validation): string {
  validation.spend(4);
  if (typeof value === "string") {
    validation.spend(value.length >>> 4);
    return JSON.stringify(value);
  }
  if (typeof value === "number") return String(value === 0 ? 0 : value);
  if (typeof value !== "object" || value === null)
    return typeof value === "boolean" || value === null ? `${value}` : typeof value;
  validation.enter();
  const text = Array.isArray(value)
    ? `[${(value as unknown[]).map((item) => canonical(item, validation)).join()}]`
    : canonicalObject(value as Record<string, unknown>, validation);
  validation.leave();
  return text;
}

function canonicalObject(value: Record<string, unknown>, validation: Validation): string {
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  validation.spend(keys.length);
  return `{${keys
    .toSorted()
    .map((key) => {
      validation.spend(key.length >>> 4);
      return `${JSON.stringify(key)}:${canonical(value[key], validation)}`;
    })
    .join()}}`;
}
