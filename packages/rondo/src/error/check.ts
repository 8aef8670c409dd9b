// Checks of arguments on entry: if one throws, nothing has changed yet.

import { InvalidArgumentError, InvalidTypeError } from "./argument-errors.ts";

type Require = (
  isValid: boolean,
  field: string,
  expected: string,
  received: unknown,
  hint?: string,
) => asserts isValid;

/** Throws an `InvalidTypeError` unless the argument has the right type. */
export const requireType: Require = (isValid, field, expected, received, hint) => {
  if (!isValid) throw new InvalidTypeError({ field, expected, received, hint });
};

/** Throws an `InvalidArgumentError` unless the argument has a valid value. */
export const requireValue: Require = (isValid, field, expected, received, hint) => {
  if (!isValid) throw new InvalidArgumentError({ field, expected, received, hint });
};

/** Names of tools and agents: what every OpenAI-compatible server accepts. */
export function checkName(field: string, value: unknown): string {
  const expected = "1 to 64 letters, digits, '_' or '-'";
  requireType(typeof value === "string", field, expected, value);
  requireValue(/^[A-Za-z0-9_-]{1,64}$/.test(value), field, expected, value);
  return value;
}

export function checkString(field: string, value: unknown): string {
  requireType(typeof value === "string", field, "a string", value);
  return value;
}

export function checkBoolean(field: string, value: unknown): boolean {
  requireType(typeof value === "boolean", field, "true or false", value);
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

export function checkFactor(field: string, value: unknown): number {
  const isFactor = (factor: number) => factor >= 1 && factor < Number.POSITIVE_INFINITY;
  return checkNumber(field, value, "a number from 1", isFactor);
}

function checkNumber(
  field: string,
  value: unknown,
  expected: string,
  isValid: (number: number) => boolean,
): number {
  requireType(typeof value === "number", field, expected, value);
  requireValue(isValid(value), field, expected, value);
  return value;
}

export function checkSignal(field: string, value: unknown): AbortSignal | undefined {
  requireType(value === undefined || value instanceof AbortSignal, field, "an AbortSignal", value);
  return value;
}

/** A list, a set or another iterable, but not a string. */
export function checkIterable(field: string, value: unknown, expected: string): unknown[] {
  const isIterable =
    typeof (value as Partial<Iterable<unknown>> | null | undefined)?.[Symbol.iterator] === "function";
  requireType(isIterable && typeof value !== "string", field, expected, value);
  return [...(value as Iterable<unknown>)];
}

/** An object of plain keys and values: not an array, not a class instance. */
export function checkPlainObject(field: string, value: unknown): Record<string, unknown> {
  requireType(isPlainObject(value), field, "a plain object", value);
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
