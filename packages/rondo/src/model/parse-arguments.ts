// Parses the arguments that a model wrote into the input of a tool. Invalid JSON is repaired, but only if the tool's
// schema then accepts the result, and never if something may be missing.

import { isPlainObject } from "../error/check.ts";
import { describe } from "../error/describe.ts";
import { jsonFlaw } from "../json/json-flaw.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import { coerceToSchema } from "./coerce-to-schema.ts";
import { findJsonObjects } from "./find-json-objects.ts";
import { parseJson } from "./parse-json.ts";
import { JsonRepairError, repairJson } from "./repair-json.ts";

/** Whether an input fits the tool's schema. */
export type AcceptsInput = (input: Record<string, unknown>) => boolean | Promise<boolean>;

export type ParsedArguments = { readonly input: Record<string, unknown> } | { readonly error: string };

export interface ParseOptions {
  /** Whether text that is not JSON is repaired. Default: true. */
  readonly repair?: boolean | undefined;
}

/** Longer text is not repaired: a fault in it is not a slip. */
const maxRepairLength = 1_000_000;
/** More objects in one text are not the arguments of one call. */
const maxObjects = 16;
const maxQuotedLength = 300;
const maxNamedProperties = 20;

/**
 * Parses a call's arguments. An object is used as it is, and empty text is `{}`. Valid JSON that the schema does not
 * accept is returned with its strings converted (`"5"` to 5), each by itself: if the schema does not accept that
 * either, validation describes best what is wrong with the rest. The error is worded for the model.
 */
export async function parseArguments(
  raw: string | object,
  accepts: AcceptsInput,
  schema?: JsonSchema,
  { repair = true }: ParseOptions = {},
): Promise<ParsedArguments> {
  const fail = (received: string, quoted: string) => ({ error: complaint(received, quoted, schema) });
  const strict = typeof raw === "string" ? parseStrictly(raw, repair) : raw;
  if (typeof raw === "string") {
    const flaw = jsonFlaw(strict);
    if (flaw !== undefined) return fail(flaw, raw);
  }
  if (isPlainObject(strict)) {
    if (!schema || (await accepts(strict))) return { input: strict };
    const coerced = coerceToSchema(strict, schema);
    return { input: isPlainObject(coerced) ? coerced : strict };
  }
  if (typeof raw !== "string") return fail("", describe(raw));
  if (strict !== undefined && typeof strict !== "string") return fail(kindOf(strict), raw);
  if (!repair) return fail(reasonOf(raw), raw);
  if (raw.length > maxRepairLength)
    return fail(`text that is not valid JSON, of ${raw.length} characters`, raw);

  const found = readObjects(typeof strict === "string" ? strict : raw);
  if ("problem" in found) return fail(found.problem ?? reasonOf(raw), raw);
  const fitting: Record<string, unknown>[] = [];
  for (const object of found.objects) {
    const input = await fit(object, accepts, schema);
    // A server that sends `{}` first and the arguments later means the latter.
    if (input && (found.objects.length === 1 || Object.keys(input).length > 0)) fitting.push(input);
  }
  const [input, ...others] = fitting;
  if (!input) return fail(reasonOf(raw), raw);
  const json = others.length > 0 ? JSON.stringify(input) : "";
  return others.every((other) => JSON.stringify(other) === json) ? { input } : fail("several", raw);
}

/**
 * The parsed value; `{}` for empty text and null. With `unwraps`, JSON in a string is parsed too. Undefined if it is
 * not JSON.
 */
function parseStrictly(text: string, unwraps: boolean): unknown {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  if (value === null) return {};
  return unwraps && typeof value === "string" ? (parseJson(value) ?? value) : value;
}

async function fit(
  value: Record<string, unknown>,
  accepts: AcceptsInput,
  schema: JsonSchema | undefined,
): Promise<Record<string, unknown> | undefined> {
  if (await accepts(value)) return value;
  const coerced = schema && coerceToSchema(value, schema);
  return isPlainObject(coerced) && coerced !== value && (await accepts(coerced)) ? coerced : undefined;
}

type ReadObjects =
  | { readonly objects: readonly Record<string, unknown>[] }
  /** Undefined where there is no more to say than that it is not JSON. */
  | { readonly problem: string | undefined };

/** The objects in a text that is not JSON. If one cannot be read, none of them is used. */
function readObjects(text: string, isUnwrapped = false): ReadObjects {
  // `{\"a\": 1}` has lost the quotes around it, but not the backslashes.
  const hasLostQuotes = /^\s*\{\s*\\"/.test(text);
  const whole = readRepaired(hasLostQuotes ? `"${text.trim()}"` : text);
  if ("value" in whole) {
    const { value } = whole;
    if (typeof value === "string" && !isUnwrapped) return readObjects(value, true);
    return isPlainObject(value) ? { objects: [value] } : { problem: kindOf(value) };
  }
  const { objects, isOpen, isProse } = findJsonObjects(text);
  if (isOpen) return { problem: "JSON that is incomplete" };
  if (objects.length > maxObjects) return { problem: "several" };
  if (objects.length === 0) return { problem: undefined };
  // The value that the object is a part of would be lost.
  if (!isProse) return { problem: whole.problem };
  const values: Record<string, unknown>[] = [];
  for (const object of objects) {
    const read = readRepaired(object);
    if ("problem" in read) return read;
    if (isPlainObject(read.value)) values.push(read.value);
  }
  return { objects: values };
}

function readRepaired(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    const value: unknown = parseJson(text) ?? JSON.parse(repairJson(text));
    const problem = jsonFlaw(value);
    return problem === undefined ? { value } : { problem };
  } catch (error) {
    if (error instanceof JsonRepairError) return { problem: error.message };
    throw error;
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : typeof value;
}

function reasonOf(raw: string): string {
  try {
    JSON.parse(raw);
    return "something else";
  } catch (error) {
    return `text that is not valid JSON (${error instanceof Error ? error.message : "unreadable"})`;
  }
}

function complaint(received: string, raw: string, schema: JsonSchema | undefined): string {
  const what = received === "" ? "received" : `received ${received}`;
  return `Invalid JSON: expected one JSON object${shapeOf(schema)}, ${what}: ${quoteArguments(raw)}`;
}

/** The arguments, truncated for an error message. */
export function quoteArguments(raw: string): string {
  return raw.length > maxQuotedLength ? `${raw.slice(0, maxQuotedLength)}…` : raw;
}

/** ` with "a" (number), "note" (string, optional)`. */
function shapeOf(schema: JsonSchema | undefined): string {
  const properties = Object.entries(schema?.properties ?? {});
  if (properties.length === 0) return "";
  const parts = properties.slice(0, maxNamedProperties).map(([name, { type }]) => {
    const words = [type === undefined ? "" : [type].flat().join(" or ")];
    if (!schema?.required?.includes(name)) words.push("optional");
    const details = words.filter((word) => word !== "").join(", ");
    return details === "" ? JSON.stringify(name) : `${JSON.stringify(name)} (${details})`;
  });
  if (properties.length > maxNamedProperties) parts.push("…");
  return ` with ${parts.join(", ")}`;
}
