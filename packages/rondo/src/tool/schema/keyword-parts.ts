// What keywords are made of: their arguments, checked, and the shapes that their checks have in common.

import { isPlainObject } from "../../error/check.ts";
import { describe } from "../../error/describe.ts";
import type { Keyword } from "./keywords.ts";
import type { Check, SchemaNode } from "./schema-compiler.ts";
import { type Evaluated, shorten, type Validation } from "./validation.ts";

/** Says where a schema is wrong, what was expected and what came. */
export function schemaError(path: string, expected: string, received: unknown): Error {
  return new Error(`${shorten(path)}: expected ${expected}, got ${describe(received)}.`);
}

/** A number; undefined for `null`, which schema generators write where there is none. */
export function numberAt(value: unknown, path: string): number | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "number" || Number.isNaN(value)) throw schemaError(path, "a number", value);
  return value;
}

export function schemasByName(value: unknown, path: string): [string, unknown][] {
  if (!isPlainObject(value)) throw schemaError(path, "schemas by name", value);
  return Object.entries(value);
}

export function listAt(value: unknown, path: string, expected: string): unknown[] {
  if (!Array.isArray(value)) throw schemaError(path, expected, value);
  return value as unknown[];
}

export function namesAt(value: unknown, path: string): string[] {
  const list = listAt(value, path, "a list of names");
  if (!list.every((name) => typeof name === "string")) throw schemaError(path, "a list of names", value);
  return list;
}

/** JSON, truncated for a message. */
export function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export type Properties = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a schema evaluates counts only if the value fits it. */
export function branch(node: SchemaNode): Check {
  return (value, place, validation, evaluated) => {
    const own: Evaluated | undefined = evaluated && new Set();
    const isValid = node.check(value, place, validation, own);
    if (!isValid || !evaluated || !own) return isValid;
    validation.spend(own.size);
    for (const key of own) evaluated.add(key);
    return true;
  };
}

/** A keyword that compares a measure of the value with its argument; without a measure, the value passes. */
export function compared(
  measure: (value: unknown, validation: Validation) => number | undefined,
  fits: (measured: number, bound: number) => boolean,
  message: (measured: number, bound: number) => string,
): Keyword {
  return ({ argument, path }) => {
    const bound = numberAt(argument, path);
    if (bound === undefined) return undefined;
    return (value, place, validation) => {
      const measured = measure(value, validation);
      return (
        measured === undefined ||
        fits(measured, bound) ||
        validation.refuse(place, message(measured, bound), value)
      );
    };
  };
}

export const atLeast = (measured: number, bound: number): boolean => measured >= bound;
export const atMost = (measured: number, bound: number): boolean => measured <= bound;
