// Lazy values: a function given as a value is called for it when the tool runs.

import { setOwn } from "../json/copy.ts";

/** A function that is itself the value. */
export class Literal<T> {
  readonly value: T;
  constructor(value: T) {
    this.value = value;
  }
}

/** Passes a function as a value, where a bare function would be called for one. */
export function literal<T>(value: T): Literal<T> {
  return new Literal(value);
}

/** A value, or a function that is called (with no arguments, and awaited) for it when the tool runs. */
export type Lazy<T> = T | Literal<T> | (() => T | Promise<T>);

export function isLazy(value: unknown): value is () => unknown {
  return typeof value === "function";
}

/** Replaces each lazy value of an object by the result of its function. In order, one at a time. */
export async function resolveLazy(
  values: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const key of Object.keys(values)) {
    const value = values[key];
    if (isLazy(value)) setOwn(resolved, key, await value());
    else setOwn(resolved, key, value instanceof Literal ? value.value : value);
  }
  return resolved;
}

/** Whether `resolveLazy` would change anything. */
export function hasLazy(values: Readonly<Record<string, unknown>>): boolean {
  return Object.values(values).some((value) => isLazy(value) || value instanceof Literal);
}
