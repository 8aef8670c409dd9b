// The keywords of JSON Schema, in the order in which their issues are reported.

import { schemaError } from "./keyword-parts.ts";
import { listKeywords } from "./keywords-list.ts";
import { logicKeywords } from "./keywords-logic.ts";
import { objectKeywords } from "./keywords-object.ts";
import { valueKeywords } from "./keywords-value.ts";
import type { Check, SchemaCompiler, SchemaNode } from "./schema-compiler.ts";

/** A keyword in a schema that is being compiled. */
export interface KeywordUse {
  readonly argument: unknown;
  /** The schema that it stands in. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly compiler: SchemaCompiler;
  readonly node: SchemaNode;
  /** A schema for a part of the value. */
  readonly inside: (schema: unknown, path: string) => SchemaNode;
  /** A schema for the same value. */
  readonly inPlace: (schema: unknown, path: string) => SchemaNode;
}

/** Compiles a keyword: throws for an invalid argument; undefined where there is nothing to check. */
export type Keyword = (use: KeywordUse) => Check | undefined;

/** By name. */
export const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...Object.entries(valueKeywords),
  ...Object.entries(logicKeywords),
  ...Object.entries(objectKeywords),
  ...Object.entries(listKeywords),
  ...Object.entries({ $defs: definitions, definitions }),
]);

/** Not a check, but a mistake in a definition is reported even if nothing refers to it. */
function definitions({ argument, path, inside }: KeywordUse): undefined {
  if (typeof argument !== "object" || argument === null) throw schemaError(path, "schemas by name", argument);
  for (const [name, schema] of Object.entries(argument)) inside(schema, `${path}.${name}`);
}

const order = new Map([...keywords.keys()].map((keyword, index) => [keyword, index]));

/** The keywords of a schema, in order. Found by its keys, for most schemas have few. */
export function keywordsOf(schema: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(schema)
    .filter((key) => order.has(key) && schema[key] !== undefined)
    .toSorted((one, other) => (order.get(one) as number) - (order.get(other) as number));
}
