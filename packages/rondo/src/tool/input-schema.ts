// Compiles every kind of input schema (Standard Schema, JSON Schema, short form) into a JSON Schema for the model and a
// parser of values.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import type { InputIssue } from "../error/input-error.ts";
import { copyData, setOwn } from "../json/copy.ts";
import type { InputSchema } from "./infer.ts";
import { compileJsonSchema, type JsonSchema, type SchemaCheck } from "./json-schema.ts";
import {
  isStandardSchema,
  type StandardResult,
  type StandardSchema,
  standardToJsonSchema,
  toInputIssues,
} from "./standard-schema.ts";

export type InputResult =
  | { readonly value: Record<string, unknown> }
  | { readonly issues: readonly InputIssue[] };

export interface CompiledInput {
  /** The schema of the input, always of an object. */
  readonly jsonSchema: JsonSchema;
  /** Validates an input, drops unknown keys and fills in defaults. */
  readonly parse: (input: Record<string, unknown>) => InputResult | Promise<InputResult>;
}

/** Compiles a schema. Default: no parameters. */
export function compileInput(schema: InputSchema | undefined): CompiledInput {
  if (schema === undefined) return compileShortSchema({});
  if (isStandardSchema(schema)) return compileStandard(schema);
  if (!isPlainObject(schema))
    throw new InvalidTypeError({
      field: "input",
      expected: "a Standard Schema (such as z.object), a JSON Schema, or parameters by name",
      received: schema,
    });
  return isJsonSchema(schema) ? compileJson(schema) : compileShortSchema(schema);
}

/** In the short form, values are constructors or objects: a string or a list means JSON Schema. */
function isJsonSchema(schema: Readonly<Record<string, unknown>>): schema is JsonSchema {
  const { type, $ref, anyOf, oneOf, allOf } = schema;
  return (
    typeof type === "string" || typeof $ref === "string" || [type, anyOf, oneOf, allOf].some(Array.isArray)
  );
}

function compileStandard(schema: StandardSchema): CompiledInput {
  return {
    jsonSchema: checkIsObject(standardToJsonSchema("input", schema)),
    parse: (input) => {
      const result = schema["~standard"].validate(input);
      return result instanceof Promise ? result.then(toResult) : toResult(result);
    },
  };
}

function toResult(result: StandardResult<unknown>): InputResult {
  if (result.issues) return { issues: toInputIssues(result.issues) };
  return { value: result.value as Record<string, unknown> };
}

function compileJson(schema: JsonSchema): CompiledInput {
  const jsonSchema = checkIsObject(copyData(schema));
  const check = compileOrExplain(jsonSchema);
  const fit = topLevelFitter(jsonSchema);
  return {
    jsonSchema,
    parse: (input) => {
      const value = fit(input);
      const issues = check(value);
      return issues.length > 0 ? { issues } : { value };
    },
  };
}

const constructors = new Map<unknown, string>([
  [String, "string"],
  [Number, "number"],
  [Boolean, "boolean"],
  [Array, "array"],
  [Object, "object"],
]);

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Validates instead of the JSON Schema. */
  readonly standard?: StandardSchema;
}

/** The short form: `{ city: String, days: { type: "integer", default: 1 }, unit: z.enum(["C", "F"]) }`. */
function compileShortSchema(short: Readonly<Record<string, unknown>>): CompiledInput {
  const parameters = Object.keys(short).map((name) => readParameter(name, short[name]));
  const standards = parameters.filter((parameter) => parameter.standard);
  // A Standard Schema validates its own parameter, also whether it may be missing.
  const own = parameters.filter((parameter) => !parameter.standard);
  const check = compileOrExplain(objectSchema(own));
  const fit = topLevelFitter(
    objectSchema(parameters.map((it) => (it.standard ? { ...it, schema: {} } : it))),
  );

  return {
    jsonSchema: objectSchema(parameters),
    parse: (input) => {
      const value = fit(input);
      const issues = check(value);
      if (standards.length > 0) return parseStandards(standards, value, issues);
      return issues.length > 0 ? { issues } : { value };
    },
  };
}

function objectSchema(parameters: readonly Parameter[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const { name, schema } of parameters) setOwn(properties, name, schema);
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return { type: "object", properties, required };
}

async function parseStandards(
  standards: readonly Parameter[],
  value: Record<string, unknown>,
  issues: InputIssue[],
): Promise<InputResult> {
  for (const { name, standard } of standards) {
    // Own properties only: every object inherits a `constructor`.
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const result = await (standard as StandardSchema)["~standard"].validate(given);
    if (result.issues) issues.push(...toInputIssues(result.issues, [name]));
    else if (result.value !== undefined) setOwn(value, name, result.value);
    else delete value[name];
  }
  return issues.length > 0 ? { issues } : { value };
}

function readParameter(name: string, value: unknown): Parameter {
  const type = constructors.get(value);
  if (type !== undefined) return { name, schema: { type }, isRequired: true };
  const field = `input.${name}`;
  if (isStandardSchema(value)) {
    const schema = standardToJsonSchema(field, value);
    return { name, schema, isRequired: !acceptsMissing(value), standard: value };
  }
  if (isPlainObject(value)) return { name, ...readFragment(value) };
  throw new InvalidTypeError({
    field,
    expected: "String, Number, Boolean, Array, Object, a JSON Schema fragment or a Standard Schema",
    received: value,
  });
}

/** `required: true` wins; else `required: false`, `optional: true` or a default make it optional. */
function readFragment(fragment: Record<string, unknown>): { schema: JsonSchema; isRequired: boolean } {
  const { optional, required, ...rest } = fragment;
  // A list is JSON Schema's own `required`, for the properties of an object parameter.
  const schema = copyData(Array.isArray(required) ? { ...rest, required } : rest);
  const isOptional = required === false || optional === true || schema["default"] !== undefined;
  return { schema, isRequired: required === true || !isOptional };
}

function acceptsMissing(schema: StandardSchema): boolean {
  const result = schema["~standard"].validate(undefined);
  if (!(result instanceof Promise)) return !result.issues;
  result.catch(() => {}); // an asynchronous schema counts as required
  return false;
}

function checkIsObject(schema: JsonSchema): JsonSchema {
  if (schema.type === undefined || schema.type === "object") return schema;
  throw new InvalidTypeError({
    field: "input",
    expected: "a schema of an object",
    received: schema,
    hint: "A tool takes one object: wrap the value, as in `{ text: … }`.",
  });
}

function compileOrExplain(schema: JsonSchema): SchemaCheck {
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
function topLevelFitter(schema: JsonSchema): (input: Record<string, unknown>) => Record<string, unknown> {
  const properties = schema.properties ?? {};
  const keepsAll = takesOtherKeys(schema);
  const given = Object.keys(properties).filter((key) => properties[key]?.default !== undefined);
  const unusable = unusableNulls(schema, given);
  const withDefault = given.filter((key) => !unusable.has(key));
  return (input) => {
    const value: Record<string, unknown> = {};
    for (const key of Object.keys(input)) {
      const isKept = input[key] !== undefined && (keepsAll || Object.hasOwn(properties, key));
      if (isKept) setOwn(value, key, input[key]);
    }
    for (const key of withDefault)
      if (!Object.hasOwn(value, key)) setOwn(value, key, copyData(properties[key]?.default));
    return value;
  };
}

/** The defaults that are null where the schema takes no null: Python programs write so that a parameter is left out. */
function unusableNulls(schema: JsonSchema, keys: readonly string[]): ReadonlySet<string> {
  const nulls = keys.filter((key) => schema.properties?.[key]?.default === null);
  if (nulls.length === 0) return new Set();
  const check = compileJsonSchema({ ...schema, required: [] });
  // What has a path is about the only key that there is.
  return new Set(nulls.filter((key) => check({ [key]: null }).some(({ path }) => path !== "")));
}

/** Whether the schema allows keys beside `properties`, which then reach the tool too. */
export function takesOtherKeys(schema: JsonSchema): boolean {
  if (schema.properties === undefined && schema.additionalProperties !== false) return true;
  if (schema.additionalProperties === true || isPlainObject(schema.additionalProperties)) return true;
  return ["patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if"].some((keyword) => keyword in schema);
}
