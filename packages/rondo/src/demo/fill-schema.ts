// Makes a value that fits a JSON Schema, out of what a sentence has: its numbers, and the thing that it is about.

import { isPlainObject } from "../error/check.ts";
import { setOwn } from "../json/copy.ts";
import { compileJsonSchema, type JsonSchema, type SchemaCheck } from "../tool/json-schema.ts";

/** What values are made of. */
export interface Material {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  /** All that was said, in which the values of an `enum` are looked for. */
  readonly said: string;
}

const nothing: Material = { texts: [], numbers: [], said: "" };
const maxDepth = 12;
// Schemas that refer to themselves, and lists of lists, ask for more values than anyone has.
const maxValues = 1_000;
const samples: { readonly [format: string]: string } = {
  date: "2000-01-01",
  time: "00:00:00Z",
  "date-time": "2000-01-01T00:00:00Z",
  email: "demo@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  ipv4: "127.0.0.1",
  hostname: "example.com",
};

/** A value of the schema; `undefined` where none was found that fits. `given` are properties that are known. */
export function fillSchema(
  schema: JsonSchema,
  material: Material,
  given: Record<string, unknown> = {},
): unknown {
  const fits = checkOf(schema);
  for (const source of [material, { ...material, numbers: [] }, { ...nothing, said: material.said }]) {
    const value = withGiven(new Filler(schema, source).fill(schema, "", 0), given);
    if (fits(value)) return value;
  }
  return undefined;
}

function withGiven(value: unknown, given: Record<string, unknown>): unknown {
  return isPlainObject(value) ? { ...value, ...given } : value;
}

/** A schema that nothing can be held against fits nothing. */
function checkOf(schema: JsonSchema): (value: unknown) => boolean {
  let check: SchemaCheck | undefined;
  return (value) => {
    try {
      check ??= compileJsonSchema(schema);
      return check(value).length === 0;
    } catch {
      return false;
    }
  };
}

class Filler {
  readonly #root: JsonSchema;
  readonly #numbers: number[];
  readonly #texts: string[];
  readonly #said: string;
  #left = maxValues;

  constructor(root: JsonSchema, { numbers, texts, said }: Material) {
    this.#root = root;
    this.#numbers = [...numbers];
    this.#texts = [...texts];
    this.#said = said.toLowerCase();
  }

  fill(schema: unknown, name: string, depth: number): unknown {
    if (!isPlainObject(schema)) return this.#text({}, name);
    this.#left -= 1;
    if (depth > maxDepth || this.#left < 0) return null;
    const { const: constant, enum: choices, anyOf, oneOf, allOf, $ref } = schema as JsonSchema;
    if (constant !== undefined) return constant;
    if (Array.isArray(choices) && choices.length > 0) return this.#choice(choices);
    if ("default" in schema) return schema["default"];
    if (typeof $ref === "string") return this.fill(this.#resolve($ref), name, depth + 1);
    for (const options of [anyOf, oneOf])
      if (Array.isArray(options) && options.length > 0) return this.fill(firstOf(options), name, depth + 1);
    if (Array.isArray(allOf) && allOf.length > 0)
      return this.#typed({ ...schema, ...merged(allOf) }, name, depth + 1);
    return this.#typed(schema, name, depth);
  }

  #typed(schema: JsonSchema, name: string, depth: number): unknown {
    switch (typeOf(schema)) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return this.#array(schema, name, depth);
      case "number":
      case "integer":
        return inRange(this.#numbers.shift() ?? 0, schema);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return this.#text(schema, name);
    }
  }

  #object({ properties, required }: JsonSchema, depth: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    const known = isPlainObject(properties) ? properties : {};
    for (const name of Array.isArray(required) ? required : [])
      setOwn(value, name, this.fill(Object.hasOwn(known, name) ? known[name] : {}, name, depth + 1));
    return value;
  }

  #array({ items, minItems = 0, maxItems = 8 }: JsonSchema, name: string, depth: number): unknown[] {
    const wanted = isPlainObject(items) && isNumeric(items) ? this.#numbers.length : 0;
    const length = Math.min(Math.max(Number(minItems) || 0, Math.min(wanted, Number(maxItems) || 0)), 100);
    return Array.from({ length }, () => this.fill(items ?? {}, name, depth + 1));
  }

  #text(schema: JsonSchema, name: string): string {
    const { format, minLength, maxLength } = schema;
    if (typeof format === "string" && Object.hasOwn(samples, format)) return samples[format] ?? "";
    if (/zone/i.test(name)) return "UTC";
    // The last text serves for all that come after it.
    const text = (this.#texts.length > 1 ? this.#texts.shift() : this.#texts[0]) ?? "";
    const least = typeof minLength === "number" ? Math.min(minLength, 10_000) : 0;
    return text.slice(0, typeof maxLength === "number" ? maxLength : undefined).padEnd(least, ".");
  }

  #choice(choices: readonly unknown[]): unknown {
    const isSaid = (it: unknown) =>
      typeof it === "string" && it !== "" && this.#said.includes(it.toLowerCase());
    return choices.find(isSaid) ?? choices[0];
  }

  #resolve(ref: string): unknown {
    const steps = ref.split("/").slice(1);
    return steps.reduce<unknown>((part, step) => {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      return isPlainObject(part) && Object.hasOwn(part, key) ? part[key] : {};
    }, this.#root);
  }
}

/** Whether a schema asks for a number. */
export function isNumeric(schema: JsonSchema): boolean {
  return ["number", "integer"].includes(typeOf(schema));
}

/** The type that a value is made of, the first of several. */
export function typeOf(schema: JsonSchema): string {
  const { type, properties, items } = schema;
  const names = [type ?? []].flat().filter((name) => name !== "null");
  return (
    names[0] ??
    (type !== undefined ? "null" : properties ? "object" : items !== undefined ? "array" : "string")
  );
}

function firstOf(options: readonly unknown[]): unknown {
  return options.find((option) => !(isPlainObject(option) && option["type"] === "null")) ?? options[0];
}

function merged(parts: readonly unknown[]): JsonSchema {
  const schemas = parts.filter((part) => isPlainObject(part)) as JsonSchema[];
  return {
    ...Object.assign({}, ...schemas),
    properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
    required: schemas.flatMap(({ required = [] }) => required),
  };
}

function inRange(number: number, schema: JsonSchema): number {
  const bound = (key: string) => {
    const limit = schema[key];
    return typeof limit === "number" ? limit : undefined;
  };
  const step = bound("multipleOf") ?? (typeOf(schema) === "integer" ? 1 : 0);
  const above = bound("exclusiveMinimum");
  const below = bound("exclusiveMaximum");
  const nudge = step || 0.5;
  const least = Math.max(bound("minimum") ?? -Infinity, above === undefined ? -Infinity : above + nudge);
  const most = Math.min(bound("maximum") ?? Infinity, below === undefined ? Infinity : below - nudge);
  const value = Math.max(least, Math.min(most, number));
  if (step === 0) return value;
  const whole = Math.round(value / step) * step;
  return whole < least
    ? Math.ceil(least / step) * step
    : whole > most
      ? Math.floor(most / step) * step
      : whole;
}
