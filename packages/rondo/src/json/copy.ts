// Copies of plain data, so that two owners never share it.

import { isPlainObject } from "../error/check.ts";

/** Copies plain objects and arrays to any depth; everything else (functions, class instances) is kept as it is. */
export function copyData<T>(value: T): T {
  return copy(value, new Map()) as T;
}

function copy(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const earlier = copies.get(value);
  if (earlier !== undefined) return earlier;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    copies.set(value, list);
    for (const item of value as unknown[]) list.push(copy(item, copies));
    return list;
  }
  if (!isPlainObject(value)) return value;
  const object: Record<string, unknown> = {};
  copies.set(value, object);
  for (const key of Object.keys(value)) setOwn(object, key, copy(value[key], copies));
  return object;
}

/** Sets an own property whatever its name: assigning to `__proto__` would change the prototype instead. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Freezes plain objects and arrays to any depth. Only for copies of our own. */
export function freezeData<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) freezeData(item);
  return value;
}
