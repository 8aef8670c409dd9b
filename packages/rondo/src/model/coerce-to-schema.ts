// Converts strings to the types of a JSON Schema: models write "5" for 5, "true" for true and JSON in strings, and
// dialects without types have only strings.

import { isPlainObject } from "../error/check.ts";
import { setOwn } from "../json/copy.ts";
import { jsonFlaw, maxJsonDepth } from "../json/json-flaw.ts";
import { type JsonSchema, resolvePointer } from "../tool/json-schema.ts";
import { parseJson } from "./parse-json.ts";

const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const maxRefs = 16;

/**
 * The value with its strings converted to numbers, booleans, null, objects or lists where the schema asks for these
 * and not for a string. An unchanged value is returned itself; nothing is changed in place.
 */
export function coerceToSchema(value: unknown, schema: JsonSchema): unknown {
  // Cached for each part of the schema: a list has many values and one part.
  const known = new Map<unknown, Expected>();
  const expectedBy = (part: unknown): Expected => {
    const expected = known.get(part) ?? resolve(part, schema);
    known.set(part, expected);
    return expected;
  };
  const coerce = (given: unknown, within: unknown, depth: number): unknown => {
    if (depth > maxJsonDepth) return given;
    const { types, part } = expectedBy(within);
    const read = typeof given === "string" && !types.has("string") ? readAs(given, types) : given;
    if (isPlainObject(read)) {
      const { properties, additionalProperties } = part;
      return mapObject(read, (item, key) => {
        const isNamed = properties !== undefined && Object.hasOwn(properties, key);
        return coerce(item, isNamed ? properties[key] : additionalProperties, depth + 1);
      });
    }
    if (!Array.isArray(read)) return read;
    const items = read.map((item) => coerce(item, part.items, depth + 1));
    return items.some((item, i) => item !== read[i]) ? items : read;
  };
  return coerce(value, schema, 0);
}

/** What a schema says of a value. */
interface Expected {
  readonly types: ReadonlySet<string>;
  /** The part of the schema that describes objects and lists. */
  readonly part: JsonSchema;
}

function mapObject(
  object: Record<string, unknown>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  let hasChanged = false;
  for (const key of Object.keys(object)) {
    const value = map(object[key], key);
    hasChanged ||= value !== object[key];
    setOwn(mapped, key, value);
  }
  return hasChanged ? mapped : object;
}

/** The string converted to the first type that it fits; otherwise unchanged. */
function readAs(text: string, types: ReadonlySet<string>): unknown {
  const trimmed = text.trim();
  const word = trimmed.toLowerCase();
  if ((types.has("number") || types.has("integer")) && numberPattern.test(trimmed)) {
    const number = Number(trimmed);
    // Digits that a number cannot hold would be lost silently.
    const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
    if (Number.isFinite(number) && isExact && (types.has("number") || Number.isInteger(number)))
      return number;
  }
  if (types.has("boolean") && (word === "true" || word === "false")) return word === "true";
  if (types.has("null") && (word === "null" || word === "none")) return null;
  if ((types.has("object") && trimmed.startsWith("{")) || (types.has("array") && trimmed.startsWith("["))) {
    const value = parseJson(trimmed);
    return value === undefined || jsonFlaw(value) !== undefined ? text : value;
  }
  return text;
}

function resolve(schema: unknown, root: JsonSchema): Expected {
  const part = follow(schema, root);
  const choices = [part["anyOf"], part["oneOf"]].filter(Array.isArray).flat() as unknown[];
  const alternatives = choices.map((choice) => follow(choice, root));
  const types = new Set([part, ...alternatives].flatMap(typesOf));
  const structured = [part, ...alternatives].find(
    ({ properties, items, additionalProperties }) => properties || items || additionalProperties,
  );
  return { types, part: structured ?? part };
}

function typesOf(schema: JsonSchema): string[] {
  if (schema.type !== undefined) return [schema.type].flat();
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return values.map((value) => (value === null ? "null" : typeof value));
}

/** The schema that a `$ref` within the same document refers to. */
function follow(schema: unknown, root: JsonSchema): JsonSchema {
  let part = schema;
  for (let hops = 0; hops < maxRefs && isPlainObject(part); hops++) {
    const ref = part["$ref"];
    if (typeof ref !== "string" || !ref.startsWith("#")) return part;
    part = resolvePointer(root, ref);
  }
  return {};
}
