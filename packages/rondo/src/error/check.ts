// Checks of arguments on entry: if one throws, nothing has changed yet.

import { InvalidArgumentError, InvalidTypeError } from "./argument-errors.ts";

/** Names of tools and agents: what every OpenAI-compatible server accepts. */
export function checkName(field: string, value: unknown): string {
  const expected = "1 to 64 letters, digits, '_' or '-'";
  if (typeof value !== "string") throw new InvalidTypeError({ field, expected, received: value });
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(value))
    throw new InvalidArgumentError({ field, expected, received: value });
  return value;
}

export function checkString(field: string, value: unknown): string {
  if (typeof value !== "string") throw new InvalidTypeError({ field, expected: "a string", received: value });
  return value;
}

export function checkBoolean(field: string, value: unknown): boolean {
  if (typeof value !== "boolean")
    throw new InvalidTypeError({ field, expected: "true or false", received: value });
  return value;
}

/** A duration: more than 0 milliseconds, or `Infinity` for no limit. */
export function checkDuration(field: string, value: unknown): number {
  return checkNumber(field, value, "a number of milliseconds above 0, or Infinity", (ms) => ms > 0);
}

/** A wait that may be skipped: 0 milliseconds or more, or `Infinity`. */
export function checkGrace(field: string, value: unknown): number {
  return checkNumber(field, value, "a number of milliseconds from 0, or Infinity", (ms) => ms >= 0);
}

export function checkLimit(field: string, value: unknown): number {
  return checkNumber(field, value, "a whole number from 1", (limit) => Number.isInteger(limit) && limit >= 1);
}

function checkNumber(
  field: string,
  value: unknown,
  expected: string,
  isValid: (number: number) => boolean,
): number {
  if (typeof value !== "number") throw new InvalidTypeError({ field, expected, received: value });
  if (!isValid(value)) throw new InvalidArgumentError({ field, expected, received: value });
  return value;
}

export function checkSignal(field: string, value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw new InvalidTypeError({ field, expected: "an AbortSignal", received: value });
}

/** An object of plain keys and values: not an array, not a class instance. */
export function checkPlainObject(field: string, value: unknown): Record<string, unknown> {
  if (!isPlainObject(value))
    throw new InvalidTypeError({ field, expected: "a plain object", received: value });
  return value;
}

/** An options object with known keys only, so that a misspelt option is not silently ignored. */
export function checkOptions(field: string, value: unknown, known: readonly string[]): void {
  for (const key of Object.keys(checkPlainObject(field, value))) {
    if (known.includes(key)) continue;
    const expected = `one of the options ${known.join(", ")}`;
    throw new InvalidArgumentError({ field: `${field}.${key}`, expected, received: key });
  }
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
