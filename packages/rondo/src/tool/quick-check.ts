// The plain schemas that most tools have, checked directly: the validator takes many times as long, because it gathers
// what it would say. It is asked only where a value does not fit, or a schema says more than this.

import { isPlainObject } from "../error/check.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Whether a value surely fits. */
export type QuickCheck = (value: unknown) => boolean;

const scalars: Readonly<Record<string, QuickCheck>> = {
  string: (value) => typeof value === "string",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

/** Keywords that say nothing about which values fit. */
const notes = ["title", "description", "default", "examples", "deprecated"];

/** The check of a plain schema; `undefined` for one with keywords that only the validator knows. */
export function quickCheck(schema: unknown): QuickCheck | undefined {
  if (!isPlainObject(schema) || typeof schema["type"] !== "string") return undefined;
  const { type, ...rest } = schema;
  const keywords = Object.keys(rest).filter((keyword) => !notes.includes(keyword));
  const has = (...known: string[]) => keywords.every((keyword) => known.includes(keyword));
  if (type === "object" && has("properties", "required")) return objectCheck(schema);
  if (type === "array" && has("items")) return listCheck(schema);
  return has() ? scalars[type] : undefined;
}

function objectCheck({ properties = {}, required = [] }: JsonSchema): QuickCheck | undefined {
  const checks = new Map<string, QuickCheck>();
  for (const [name, part] of Object.entries(properties)) {
    const check = quickCheck(part);
    if (!check) return undefined;
    checks.set(name, check);
  }
  return (value) => {
    if (!isPlainObject(value)) return false;
    for (const name of required) if (!Object.hasOwn(value, name) || value[name] === undefined) return false;
    for (const [name, check] of checks)
      if (Object.hasOwn(value, name) && value[name] !== undefined && !check(value[name])) return false;
    return true;
  };
}

function listCheck({ items }: JsonSchema): QuickCheck | undefined {
  const check = items === undefined ? () => true : quickCheck(items);
  return check && ((value) => Array.isArray(value) && value.every((item) => check(item)));
}
