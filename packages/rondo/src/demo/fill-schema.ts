// Makes a value for a JSON Schema from what a sentence has: its numbers and its topic.

import { isPlainObject } from "../error/check.ts";
import { setOwn } from "../json/copy.ts";
import { compileJsonSchema, type JsonSchema } from "../tool/json-schema.ts";

/** What values are made of. */
export interface Material {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** Where the values of an `enum` are looked for. */
  readonly said: string;
}

const maxDepth = 12;
// Schemas that refer to themselves, and lists of lists, can ask for any number of values.
const maxValues = 1_000;
const samples: { readonly [format: string]: string } = {
  date: "2000-01-01",
  "date-time": "2000-01-01T00:00:00Z",
  email: "demo@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A value that fits the schema; `undefined` if none was found. */
export function fillSchema(schema: JsonSchema, material: Material): unknown {
  try {
    const check = compileJsonSchema(schema);
    return [material, { texts: [], numbers: [], said: material.said }]
      .map((source) => filler(schema, source)(schema, 0))
      .find((value) => check(value).length === 0);
  } catch {
    return undefined; // a schema that cannot be compiled
  }
}

export function isNumeric(schema: unknown): boolean {
  return isPlainObject(schema) && !("enum" in schema) && /^(?:number|integer)$/.test(typeOf(schema));
}

/** Fills schemas that are part of `root`, taking numbers and texts in order. */
function filler(root: JsonSchema, material: Material): (schema: unknown, depth: number) => unknown {
  const numbers = [...material.numbers];
  const texts = [...material.texts];
  const said = material.said.toLowerCase();
  let valuesLeft = maxValues;

  const fill = (given: unknown, depth: number): unknown => {
    const schema: JsonSchema = isPlainObject(given) ? given : {};
    valuesLeft -= 1;
    if (depth > maxDepth || valuesLeft < 0) return null;
    const { const: constant, enum: choices, $ref, anyOf, oneOf } = schema;
    if (constant !== undefined) return constant;
    if (Array.isArray(choices)) return choices.find(isSaid) ?? choices[0];
    if ("default" in schema) return schema.default;
    if (typeof $ref === "string") return fill(resolve(root, $ref), depth + 1);
    const options = anyOf ?? oneOf;
    if (Array.isArray(options))
      return fill(options.find((option) => option?.type !== "null") ?? options[0], depth + 1);
    switch (typeOf(schema)) {
      case "object":
        return object(schema, depth);
      case "array":
        return list(schema, depth);
      case "number":
      case "integer":
        return inRange(numbers.shift() ?? 0, schema);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return text(schema);
    }
  };
  const isSaid = (choice: unknown) =>
    typeof choice === "string" && choice !== "" && said.includes(choice.toLowerCase());
  // The required properties, and optional numbers while there are any.
  const object = ({ properties, required }: JsonSchema, depth: number) => {
    const value: Record<string, unknown> = {};
    const known = new Map(Object.entries(isPlainObject(properties) ? properties : {}));
    const needed = new Set<string>(Array.isArray(required) ? required : []);
    for (const name of new Set([...known.keys(), ...needed]))
      if (needed.has(name) || (isNumeric(known.get(name)) && numbers.length > 0))
        setOwn(value, name, fill(known.get(name), depth + 1));
    return value;
  };
  const list = ({ items, minItems, maxItems }: JsonSchema, depth: number) => {
    const wanted = Math.max(Number(minItems ?? 0), isNumeric(items) ? numbers.length : 0);
    const length = Math.min(wanted, Number(maxItems ?? wanted), 100) || 0;
    return Array.from({ length }, () => fill(items, depth + 1));
  };
  const text = ({ format, minLength = 0, maxLength }: JsonSchema) => {
    if (typeof format === "string" && Object.hasOwn(samples, format)) return samples[format];
    // The last text serves for all that follow.
    const next = (texts.length > 1 ? texts.shift() : texts[0]) ?? "";
    const short = next.slice(0, typeof maxLength === "number" ? maxLength : undefined);
    return short.padEnd(Math.min(Number(minLength), 10_000), ".");
  };
  return fill;
}

function resolve(root: JsonSchema, ref: string): unknown {
  const keys = ref
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return keys.reduce<unknown>((part, key) => (isPlainObject(part) ? part[key] : undefined), root);
}

/** The first type that is not `null`. */
function typeOf({ type, properties, items }: JsonSchema): string {
  if (type !== undefined) return [type].flat().find((name) => name !== "null") ?? "null";
  return properties ? "object" : items !== undefined ? "array" : "string";
}

function inRange(number: number, schema: JsonSchema): number {
  const bound = (key: string, otherwise: number) =>
    typeof schema[key] === "number" ? schema[key] : otherwise;
  const least = Math.max(bound("minimum", -Infinity), bound("exclusiveMinimum", -Infinity) + 1);
  const most = Math.min(bound("maximum", Infinity), bound("exclusiveMaximum", Infinity) - 1);
  const value = Math.max(least, Math.min(most, number));
  return typeOf(schema) === "integer" ? Math.round(value) : value;
}
