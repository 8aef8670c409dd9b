// Mistakes in a schema, and the arguments of keywords without them.

import { isPlainObject } from "../../error/check.ts";
import { describe } from "../../error/describe.ts";
import { shorten } from "./validation.ts";

/** Says where a schema is wrong, what was expected and what came. */
export function wrong(path: string, expected: string, received: unknown): Error {
  return new Error(`${shorten(path)}: expected ${expected}, got ${describe(received)}.`);
}

/** A number; nothing for `null`, which generators of schemas write where there is none. */
export function numberAt(value: unknown, path: string): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "number" || Number.isNaN(value)) throw wrong(path, "a number", value);
  return value;
}

export function schemasByName(value: unknown, path: string): [string, unknown][] {
  if (!isPlainObject(value)) throw wrong(path, "schemas by name", value);
  return Object.entries(value);
}

export function listAt(value: unknown, path: string, expected: string): unknown[] {
  if (!Array.isArray(value)) throw wrong(path, expected, value);
  return value as unknown[];
}

export function namesAt(value: unknown, path: string): string[] {
  const list = listAt(value, path, "a list of names");
  if (!list.every((name) => typeof name === "string")) throw wrong(path, "a list of names", value);
  return list;
}

/** JSON in a few words. */
export function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
