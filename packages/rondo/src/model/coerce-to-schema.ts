// Reads strings as what a JSON Schema asks for: models write "5" for 5, "true" for true and JSON in strings, and
// dialects without types have nothing but strings.

import { isPlainObject } from "../error/check.ts";
import { setOwn } from "../json/copy.ts";
import type { JsonSchema } from "../tool/json-schema.ts";

const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const maxRefs = 16;

/**
 * The value with its strings read as numbers, booleans, null, objects or lists where the schema asks for these and
 * not for a string. A value that has nothing to change is given back itself; nothing is changed in place.
 */
export function coerceToSchema(value: unknown, schema: JsonSchema): unknown {
  return coerce(value, schema, schema);
}

function coerce(value: unknown, schema: unknown, root: JsonSchema): unknown {
  const { types, part } = resolve(schema, root);
  const read = typeof value === "string" && !types.has("string") ? readAs(value, types) : value;
  if (isPlainObject(read)) {
    const { properties, additionalProperties } = part;
    return mapObject(read, (item, key) =>
      coerce(
        item,
        properties && Object.hasOwn(properties, key) ? properties[key] : additionalProperties,
        root,
      ),
    );
  }
  if (Array.isArray(read)) {
    const items = read.map((item) => coerce(item, part.items, root));
    return items.some((item, i) => item !== read[i]) ? items : read;
  }
  return read;
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

/** The string as the first of the types that it can be read as; otherwise as it is. */
function readAs(text: string, types: ReadonlySet<string>): unknown {
  const trimmed = text.trim();
  const word = trimmed.toLowerCase();
  if ((types.has("number") || types.has("integer")) && numberPattern.test(trimmed)) {
    const number = Number(trimmed);
    // Digits that a number cannot hold would be lost without a word.
    const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
    if (Number.isFinite(number) && isExact && (types.has("number") || Number.isInteger(number)))
      return number;
  }
  if (types.has("boolean") && (word === "true" || word === "false")) return word === "true";
  if (types.has("null") && (word === "null" || word === "none")) return null;
  if ((types.has("object") && trimmed.startsWith("{")) || (types.has("array") && trimmed.startsWith("["))) {
    try {
      return JSON.parse(trimmed);
    } catch {
      return text;
    }
  }
  return text;
}

/** The types that the schema allows, and the part of it that describes objects and lists. */
function resolve(schema: unknown, root: JsonSchema): { types: ReadonlySet<string>; part: JsonSchema } {
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

/** The schema that a `$ref` within the same document leads to. */
function follow(schema: unknown, root: JsonSchema): JsonSchema {
  let part = schema;
  for (let hops = 0; hops < maxRefs && isPlainObject(part); hops++) {
    const ref = part["$ref"];
    if (typeof ref !== "string" || !ref.startsWith("#")) return part;
    part = ref
      .split("/")
      .slice(1)
      .reduce<unknown>(
        (target, step) =>
          isPlainObject(target) ? target[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined,
        root,
      );
  }
  return {};
}
