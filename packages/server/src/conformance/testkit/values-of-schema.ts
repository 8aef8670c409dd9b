// Values that follow a schema, made up: what a client may send whose author has read the public types.

import fc from "fast-check";
import type { Schema } from "./schema-of-types.ts";

type Definitions = Readonly<Record<string, Schema>>;

/** Values of a schema. Below `depth`, optional fields are left out and lists are empty. */
export function valuesOf(schema: Schema, definitions: Definitions, depth = 6): fc.Arbitrary<unknown> {
  const inner = (of: Schema) => valuesOf(of, definitions, depth - 1);
  if (schema.$ref) return lazy(() => inner(definitionOf(schema.$ref ?? "", definitions)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => lazy(() => inner(each))));
  if (schema.allOf) {
    const members = schema.allOf.flatMap(({ then }) => (then ? [then] : []));
    return fc.oneof(...members.map((each) => lazy(() => inner(each))));
  }
  if (schema.type === "string") return fc.oneof(fc.constantFrom("a", "auto"), fc.string({ minLength: 1 }));
  if (schema.type === "number") return fc.constant(1);
  if (schema.type === "boolean") return fc.boolean();
  if (schema.type === "array")
    return fc.array(
      lazy(() => inner(schema.items ?? {})),
      { maxLength: depth > 0 ? 3 : 0 },
    );
  return schema.type === "object" ? objects(schema, inner, depth) : fc.jsonValue({ maxDepth: 1 });
}

function objects(
  { properties = {}, required = [], additionalProperties }: Schema,
  inner: (schema: Schema) => fc.Arbitrary<unknown>,
  depth: number,
): fc.Arbitrary<unknown> {
  const names = Object.keys(properties).filter((name) => depth > 0 || required.includes(name));
  const fields = Object.fromEntries(names.map((name) => [name, lazy(() => inner(properties[name] ?? {}))]));
  const known = fc.record(fields, { requiredKeys: required });
  if (typeof additionalProperties !== "object" || depth <= 0) return known;
  const others = fc.dictionary(fc.string(), inner(additionalProperties), { maxKeys: 2 });
  return fc.tuple(others, known).map(([more, own]) => ({ ...more, ...own }));
}

/** Types refer to themselves, so nothing is made before it is needed. */
function lazy(make: () => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.constant(undefined).chain(make);
}

function definitionOf(reference: string, definitions: Definitions): Schema {
  const found = definitions[reference.replace("#/$defs/", "")];
  if (!found) throw new Error(`There is no definition for ${reference}.`);
  return found;
}
