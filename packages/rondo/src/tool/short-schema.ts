// The short form: `{ city: String, days: { type: "integer", default: 1 }, unit: z.enum(["C", "F"]) }`.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import type { InputIssue } from "../error/input-error.ts";
import { copyData, setOwn } from "../json/copy.ts";
import type { JsonSchema } from "./json-schema.ts";
import { type CompiledInput, compileOrExplain, fitTopLevel, type InputResult } from "./object-schema.ts";
import {
  isStandardSchema,
  type StandardSchema,
  standardToJsonSchema,
  toInputIssues,
} from "./standard-schema.ts";

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

export function compileShortSchema(short: Readonly<Record<string, unknown>>): CompiledInput {
  const parameters = Object.keys(short).map((name) => readParameter(name, short[name]));
  const standards = parameters.filter((parameter) => parameter.standard);
  // A Standard Schema validates its own parameter, also whether it may be missing.
  const own = parameters.filter((parameter) => !parameter.standard);
  const check = compileOrExplain(objectSchema(own));
  const shape = objectSchema(parameters.map((it) => (it.standard ? { ...it, schema: {} } : it)));

  return {
    jsonSchema: objectSchema(parameters),
    parse: (input) => {
      const value = fitTopLevel(shape, input);
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
