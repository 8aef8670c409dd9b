// Turns the arguments that a model wrote into the input of a tool. What is not quite JSON is repaired, but only
// where the tool's schema then accepts the result, and never where something may be missing.

import { jsonrepair } from "jsonrepair";
import { isPlainObject } from "../error/check.ts";
import { describe } from "../error/describe.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import { coerceToSchema } from "./coerce-to-schema.ts";
import { findJsonObjects } from "./find-json-objects.ts";

/** Says whether an input fits the tool's schema. */
export type AcceptsInput = (input: Record<string, unknown>) => boolean | Promise<boolean>;

export type ParsedArguments = { readonly input: Record<string, unknown> } | { readonly error: string };

const maxQuotedLength = 300;

/**
 * Parses a call's arguments. An object is taken as it is, and no text is `{}`. Proper JSON that the schema does not
 * accept, even with its strings read as what the schema asks for (`"5"` as 5), is given back as it is: validation
 * says best what is wrong with it. The error is worded for the model.
 */
export async function parseArguments(
  raw: string | object,
  accepts: AcceptsInput,
  schema?: JsonSchema,
): Promise<ParsedArguments> {
  const strict = typeof raw === "string" ? parseStrictly(raw) : raw;
  if (isPlainObject(strict)) return { input: (await fit(strict, accepts, schema)) ?? strict };
  if (typeof raw !== "string") return { error: complaint("received", describe(raw), schema) };
  if (strict !== undefined && typeof strict !== "string")
    return { error: complaint(`received ${Array.isArray(strict) ? "a list" : typeof strict}`, raw, schema) };
  return repair(typeof strict === "string" ? strict : raw, raw, accepts, schema);
}

/** The value, with what stands for "nothing" as `{}` and JSON in a string unwrapped. Undefined if it is not JSON. */
function parseStrictly(text: string): unknown {
  if (text.trim() === "") return {};
  const value = parse(text);
  if (value === null) return {};
  return typeof value === "string" ? (parse(value) ?? value) : value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

/** `text` is what to repair, `raw` what the model wrote. */
async function repair(
  text: string,
  raw: string,
  accepts: AcceptsInput,
  schema: JsonSchema | undefined,
): Promise<ParsedArguments> {
  const { objects, isOpen } = findJsonObjects(text);
  if (isOpen) return { error: complaint("received JSON that is incomplete", raw, schema) };
  const found: Record<string, unknown>[] = [];
  for (const object of objects) {
    const value = parse(object) ?? parseRepaired(object);
    const input = isPlainObject(value) ? await fit(value, accepts, schema) : undefined;
    // A server that sends `{}` first and the arguments later means the latter.
    if (input && (objects.length === 1 || Object.keys(input).length > 0)) found.push(input);
  }
  const [input, ...others] = found;
  if (input && others.every((other) => JSON.stringify(other) === JSON.stringify(input))) return { input };
  return { error: complaint(others.length > 0 ? "received several" : reasonOf(raw), raw, schema) };
}

function parseRepaired(text: string): unknown {
  try {
    return JSON.parse(jsonrepair(text));
  } catch {
    return undefined;
  }
}

function reasonOf(raw: string): string {
  try {
    JSON.parse(raw);
    return "received something else";
  } catch (error) {
    return `received text that is not valid JSON (${error instanceof Error ? error.message : "unreadable"})`;
  }
}

function complaint(received: string, raw: string, schema: JsonSchema | undefined): string {
  const quoted = raw.length > maxQuotedLength ? `${raw.slice(0, maxQuotedLength)}…` : raw;
  return `Invalid JSON: expected one JSON object${shapeOf(schema)}, ${received}: ${quoted}`;
}

/** ` with "a" (number), "note" (string, optional)`. */
function shapeOf(schema: JsonSchema | undefined): string {
  const properties = Object.entries(schema?.properties ?? {});
  if (properties.length === 0) return "";
  const parts = properties.map(([name, { type }]) => {
    const words = [type === undefined ? "" : [type].flat().join(" or ")];
    if (!schema?.required?.includes(name)) words.push("optional");
    const details = words.filter((word) => word !== "").join(", ");
    return details === "" ? JSON.stringify(name) : `${JSON.stringify(name)} (${details})`;
  });
  return ` with ${parts.join(", ")}`;
}
