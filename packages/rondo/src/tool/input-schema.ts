// Compiles every kind of input schema into a JSON Schema for the model and a parser of values.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import { copyData } from "../json/copy.ts";
import type { InputSchema } from "./infer.ts";
import type { JsonSchema } from "./json-schema.ts";
import {
  type CompiledInput,
  checkIsObject,
  compileOrExplain,
  fitTopLevel,
  type InputResult,
} from "./object-schema.ts";
import { compileShortSchema } from "./short-schema.ts";
import {
  isStandardSchema,
  type StandardResult,
  type StandardSchema,
  standardToJsonSchema,
  toInputIssues,
} from "./standard-schema.ts";

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
  return {
    jsonSchema,
    parse: (input) => {
      const value = fitTopLevel(jsonSchema, input);
      const issues = check(value);
      return issues.length > 0 ? { issues } : { value };
    },
  };
}
