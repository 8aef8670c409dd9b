// Deep copies of plain data, so that two owners never share it.

import { isPlainObject } from "../error/check.ts";
import { isFlat } from "./depth.ts";

/**
 * Copies plain objects and arrays to any depth, without recursion: untrusted data may be deeper than the stack.
 * Everything else (functions, class instances) is kept as it is.
 */
export function copyData<T>(value: T): T {
  if (isFlat(value)) return { ...value };
  const copies = new Map<object, object>();
  const open: object[] = [];
  const copyOf = (part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return part;
    const earlier = copies.get(part);
    if (earlier !== undefined) return earlier;
    if (!Array.isArray(part) && !isPlainObject(part)) return part;
    const copy = Array.isArray(part) ? [] : {};
    copies.set(part, copy);
    open.push(part);
    return copy;
  };
  const result = copyOf(value);
  for (let part = open.pop(); part; part = open.pop()) {
    const copy = copies.get(part);
    if (Array.isArray(part)) for (const item of part as unknown[]) (copy as unknown[]).push(copyOf(item));
    else
      for (const key of Object.keys(part))
        setOwn(copy as Record<string, unknown>, key, copyOf((part as Record<string, unknown>)[key]));
  }
  return result as T;
}

/** Sets an own property of any name: assigning to `__proto__` would change the prototype instead. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Freezes plain objects and arrays to any depth. Only for copies of our own. */
export function freezeData<T>(value: T): T {
  if (isFlat(value)) return Object.freeze(value);
  const open: unknown[] = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (typeof part !== "object" || part === null || Object.isFrozen(part)) continue;
    if (!Array.isArray(part) && !isPlainObject(part)) continue;
    Object.freeze(part);
    for (const item of Object.values(part)) open.push(item);
  }
  return value;
}
