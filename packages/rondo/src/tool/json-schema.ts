// JSON Schema as plain data: its type, and validation with words that a person or a model can act on. Schemas may
// come from clients and MCP servers, so neither they nor any value can make a check take long (docs/decisions/0027).

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

/** Says of a value what is wrong with it; nothing, if it fits. */
export type SchemaCheck = (value: unknown) => InputIssue[];

/**
 * Prepares a schema for validation. Throws when the schema itself is unusable: malformed, too large, or with a `$ref`
 * that leads nowhere or in circles. A value that takes too long to check does not fit.
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

function draftOf(schema: JsonSchema): Draft {
  const uri = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (uri.includes("draft-04")) return 4;
  if (uri.includes("draft-06") || uri.includes("draft-07")) return 7;
  return uri.includes("2019-09") ? 2019 : 2020;
}
