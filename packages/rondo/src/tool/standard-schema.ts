// The Standard Schema interface (https://standardschema.dev), by which Zod, Valibot, ArkType and others
// validate, infer types and describe themselves as JSON Schema.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { describe } from "../error/describe.ts";
import type { InputIssue } from "../error/input-error.ts";
import { type JsonSchema, pathOf } from "./json-schema.ts";

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> }
      | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** Recognised by the property: some libraries' schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") && "~standard" in value
  );
}

/** The JSON Schema of a Standard Schema's input. Throws an error that says what to do if it has none. */
export function standardToJsonSchema(field: string, schema: StandardSchema): JsonSchema {
  const { vendor, jsonSchema } = schema["~standard"];
  const refuse = (hint: string, cause?: unknown) =>
    new InvalidTypeError(
      { field, expected: "a schema that can be written as JSON Schema", received: schema, hint },
      { cause },
    );
  if (!jsonSchema)
    throw refuse(
      `This ${vendor} schema has no '~standard'.jsonSchema: update ${vendor}, use its adapter to Standard JSON Schema, or give plain JSON Schema.`,
    );
  try {
    const { $schema: _, ...rest } = jsonSchema.input({ target: "draft-2020-12" });
    return rest;
  } catch (cause) {
    const complaint = cause instanceof Error ? cause.message : describe(cause);
    throw refuse(
      `${vendor} says: ${complaint.replace(/\.$/, "")}. Use types that JSON can carry, or give plain JSON Schema.`,
      cause,
    );
  }
}

/** The issues of a Standard Schema, with paths as in code. `prefix` is the path of the value. */
export function toInputIssues(
  issues: readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined }[],
  prefix: readonly PropertyKey[] = [],
): InputIssue[] {
  return issues.map(({ message, path = [] }) => ({
    path: pathOf([...prefix, ...path.map((step) => (typeof step === "object" ? step.key : step))]),
    message: message.replace(/\.$/, ""),
  }));
}
