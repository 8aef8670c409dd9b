// JSON Schema as plain data: its type, and validation with messages that a person or a model can act on. Schemas may
// come from clients and MCP servers, so neither a schema nor a value can make a check slow (docs/decisions/0027).

import { isPlainObject } from "../error/check.ts";
import type { InputIssue } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";
import { type Draft, SchemaCompiler } from "./schema/schema-compiler.ts";
import { BudgetError, Validation } from "./schema/validation.ts";

export { pathOf } from "./schema/validation.ts";

/** A JSON Schema. Only what this library reads is typed. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly additionalProperties?: unknown;
  readonly [keyword: string]: unknown;
}

/** The issues of a value; empty if it is valid. */
export type SchemaCheck = (value: unknown) => InputIssue[];

/**
 * Compiles a schema for validation. Throws when the schema itself is unusable: malformed, too large, or with a
 * dangling or circular `$ref`. A value that takes too long to check is invalid.
 */
export function compileJsonSchema(schema: JsonSchema): SchemaCheck {
  const root = new SchemaCompiler(draftOf(schema)).compile(copyData(schema));
  return (value) => {
    const validation = new Validation();
    try {
      return root.check(value, undefined, validation, undefined) ? [] : validation.issues;
    } catch (error) {
      if (error instanceof BudgetError) return [{ path: "", message: error.message }];
      throw error;
    }
  };
}

/** The part of a schema that a reference such as `#/$defs/a~1b` points to; undefined if there is none. */
export function resolvePointer(root: JsonSchema, ref: string): unknown {
  const steps = ref.split("/").slice(1);
  return steps.reduce<unknown>((part, step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isPlainObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
  }, root);
}

function draftOf(schema: JsonSchema): Draft {
  const uri = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (uri.includes("draft-04")) return 4;
  if (uri.includes("draft-06") || uri.includes("draft-07")) return 7;
  return uri.includes("2019-09") ? 2019 : 2020;
}
