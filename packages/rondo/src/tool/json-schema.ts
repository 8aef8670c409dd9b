// JSON Schema as plain data: its type, and validation with words that a person or a model can act on.

import { dereference, type OutputUnit, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { isPlainObject } from "../error/check.ts";
import { describe } from "../error/describe.ts";
import type { InputIssue } from "../error/input-error.ts";
import { copyData, setOwn } from "../json/copy.ts";
import { quickCheck } from "./quick-check.ts";

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
  const own = copyData(schema) as object;
  checkKeywords(own, "schema");
  const validator = new Validator(own, draftOf(schema), false);
  checkParts(own);
  const fits = quickCheck(schema);
  return (value) => {
    if (fits?.(value)) return [];
    const { valid, errors } = validator.validate(jsonView(value, new Map()));
    return valid ? [] : toIssues(errors, schema, value);
  };
}

const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** The validator takes any nonsense for a keyword, and then refuses every value or throws: `{ type: String }`. */
function checkKeywords(schema: unknown, path: string): void {
  const expect = (isFine: boolean, where: string, expected: string, received: unknown) => {
    if (!isFine) throw new Error(`${where}: expected ${expected}, got ${describe(received)}.`);
  };
  if (typeof schema === "boolean") return;
  expect(isPlainObject(schema), path, "a schema", schema);
  const { type = [], required = [], enum: choices = [], properties = {}, items = [] } = schema as JsonSchema;
  for (const name of [type].flat())
    expect(typeNames.includes(name), `${path}.type`, `one of ${typeNames.join(", ")}`, name);
  const isNames = Array.isArray(required) && required.every((name) => typeof name === "string");
  expect(isNames, `${path}.required`, "a list of names", required);
  expect(Array.isArray(choices), `${path}.enum`, "a list of values", choices);
  expect(isPlainObject(properties), `${path}.properties`, "schemas by name", properties);
  for (const [name, part] of Object.entries(properties)) checkKeywords(part, `${path}.properties.${name}`);
  for (const part of [items].flat()) checkKeywords(part, `${path}.items`);
}

/** The validator finds an unknown `$ref` or a broken pattern only when a value leads it there: too late. */
function checkParts(schema: object): void {
  const parts = dereference(schema);
  for (const part of Object.values(parts)) {
    if (typeof part === "boolean") continue;
    const { $ref, __absolute_ref__: target, pattern = "", patternProperties = {} } = part;
    if (target !== undefined && parts[target] === undefined)
      throw new Error(`There is nothing at the $ref ${JSON.stringify($ref)}.`);
    for (const source of [pattern, ...Object.keys(patternProperties)]) RegExp(source, "u");
  }
}

/** The validator throws at what JSON does not have. It shall see: an absent property, or a thing of no known type. */
function jsonView(value: unknown, views: Map<object, unknown>): unknown {
  if (["undefined", "function", "symbol", "bigint"].includes(typeof value)) return {};
  if (typeof value !== "object" || value === null) return value;
  if (views.has(value)) return views.get(value);
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    views.set(value, list);
    for (const item of value as unknown[]) list.push(jsonView(item, views));
    return list;
  }
  if (!isPlainObject(value)) return value;
  const object: Record<string, unknown> = {};
  views.set(value, object);
  // The validator throws at half a character in a key, which JSON can have.
  for (const key of Object.keys(value))
    if (value[key] !== undefined) setOwn(object, key.toWellFormed(), jsonView(value[key], views));
  return object;
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
