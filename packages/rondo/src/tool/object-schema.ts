// What all kinds of input schemas share: each becomes the JSON Schema of one object.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import type { InputIssue } from "../error/input-error.ts";
import { copyData, setOwn } from "../json/copy.ts";
import { compileJsonSchema, type JsonSchema, type SchemaCheck } from "./json-schema.ts";

export type InputResult =
  | { readonly value: Record<string, unknown> }
  | { readonly issues: readonly InputIssue[] };

export interface CompiledInput {
  /** The schema of the input, always of an object. */
  readonly jsonSchema: JsonSchema;
  /** Validates an input, drops unknown keys and fills in defaults. */
  readonly parse: (input: Record<string, unknown>) => InputResult | Promise<InputResult>;
}

export function checkIsObject(schema: JsonSchema): JsonSchema {
  if (schema.type === undefined || schema.type === "object") return schema;
  throw new InvalidTypeError({
    field: "input",
    expected: "a schema of an object",
    received: schema,
    hint: "A tool takes one object: wrap the value, as in `{ text: … }`.",
  });
}

export function compileOrExplain(schema: JsonSchema): SchemaCheck {
  try {
    return compileJsonSchema(schema);
  } catch (cause) {
    const hint = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidTypeError(
      { field: "input", expected: "a valid JSON Schema", received: schema, hint },
      { cause },
    );
  }
}

/** Drops unknown top-level keys, unless the schema allows them, and fills in top-level defaults. */
export function fitTopLevel(schema: JsonSchema, input: Record<string, unknown>): Record<string, unknown> {
  const properties = schema.properties ?? {};
  const keepsAll = takesOtherKeys(schema);
  const value: Record<string, unknown> = {};
  for (const key of Object.keys(input)) {
    const isKept = input[key] !== undefined && (keepsAll || Object.hasOwn(properties, key));
    if (isKept) setOwn(value, key, input[key]);
  }
  for (const key of Object.keys(properties)) {
    const fallback = properties[key]?.default;
    if (fallback !== undefined && !Object.hasOwn(value, key)) setOwn(value, key, copyData(fallback));
  }
  return value;
}

/** Whether the schema allows keys beside `properties`, which then reach the tool too. */
export function takesOtherKeys(schema: JsonSchema): boolean {
  if (schema.properties === undefined && schema.additionalProperties !== false) return true;
  if (schema.additionalProperties === true || isPlainObject(schema.additionalProperties)) return true;
  return ["patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if"].some((keyword) => keyword in schema);
}
