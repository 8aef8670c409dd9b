// JSON Schema as plain data: its type, and validation with words that a person or a model can act on.

import { type OutputUnit, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { describe } from "../error/describe.ts";
import type { InputIssue } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";

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

/** Prepares a schema for validation. Throws when the schema itself is unusable. */
export function compileJsonSchema(schema: JsonSchema): SchemaCheck {
  // The validator leaves notes in the schema that it gets, so it gets a copy.
  const validator = new Validator(copyData(schema) as object, draftOf(schema), false);
  validator.validate({}); // an unresolved $ref shows only in use
  return (value) => {
    const { valid, errors } = validator.validate(value);
    return valid ? [] : toIssues(errors, schema, value);
  };
}

/** What a schema asks for, in a few words: `number`, `one of "a", "b"`, `string or null`. */
function expectation(schema: JsonSchema | undefined): string {
  if (schema?.const !== undefined) return JSON.stringify(schema.const);
  if (schema?.enum) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(", ")}`;
  if (typeof schema?.type === "string") return schema.type;
  return Array.isArray(schema?.type) ? schema.type.join(" or ") : "a value";
}

function draftOf(schema: JsonSchema): SchemaDraft {
  const uri = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (uri.includes("draft-04")) return "4";
  if (uri.includes("draft-06") || uri.includes("draft-07")) return "7";
  return uri.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Keywords whose own message only says that a part of the value is wrong; the part's message follows. */
const wrappers = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "$ref",
  "$recursiveRef",
  "allOf",
  "if",
  "dependentSchemas",
]);

function toIssues(errors: readonly OutputUnit[], schema: JsonSchema, value: unknown): InputIssue[] {
  const alternatives = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  const isNews = (error: OutputUnit) =>
    !wrappers.has(error.keyword) &&
    // Of a choice that does not fit, the choice is the message, not why each alternative failed.
    !alternatives.some(
      (choice) => choice !== error && error.keywordLocation.startsWith(`${choice.keywordLocation}/`),
    );
  const news = errors.filter(isNews);
  return (news.length > 0 ? news : errors).map((error) => toIssue(error, schema, value));
}

function toIssue(
  { keyword, instanceLocation, error }: OutputUnit,
  schema: JsonSchema,
  value: unknown,
): InputIssue {
  const steps = instanceLocation.split("/").slice(1).map(unescapePointer);
  const found = steps.reduce<unknown>(
    (part, step) => (part as Record<string, unknown> | undefined)?.[step],
    value,
  );
  const quoted = /"(.+)"\.?$/s.exec(error)?.[1];
  if (keyword === "required" && quoted !== undefined) {
    const expected = steps.length === 0 ? expectation(schema.properties?.[quoted]) : "a value";
    return { path: pathOf([...steps, quoted]), message: `expected ${expected}, got nothing` };
  }
  if (keyword === "type") {
    const expected = /Expected "(.+)"\.$/.exec(error)?.[1]?.replaceAll('", "', " or ");
    return { path: pathOf(steps), message: `expected ${expected}, got ${describe(found)}` };
  }
  return { path: pathOf(steps), message: `${error.replace(/\.$/, "")}, got ${describe(found)}` };
}

function unescapePointer(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Writes a path as in code: `stops[2].name`. */
export function pathOf(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    const name = String(step);
    if (/^\d+$/.test(name)) return `${path}[${name}]`;
    return path === "" ? name : `${path}.${name}`;
  }, "");
}
