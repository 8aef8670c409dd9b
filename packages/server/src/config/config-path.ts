// Places in a configuration: how they are written, and what the schema knows about them.

import type { z } from "zod";
import { configSchema } from "./schema.ts";

export type ConfigPath = readonly (string | number)[];

/** A path as people write it: `endpoints[0].url`. */
export function keyOf(path: ConfigPath): string {
  return path.reduce<string>((key, part) => {
    if (typeof part === "number") return `${key}[${part}]`;
    return key === "" ? part : `${key}.${part}`;
  }, "");
}

/** What stands at a place; undefined where there is nothing. */
export function valueAt(values: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((value, part) => Object(value)[part], values);
}

/** The schemas from the root to a place, as far as the schema knows it; each without default and optional. */
export function schemasAlong(path: ConfigPath): z.core.$ZodType[] {
  const schemas: z.core.$ZodType[] = [configSchema];
  for (const part of path) {
    const child = childOf(inner(schemas.at(-1) ?? configSchema), part);
    if (child === undefined) break;
    schemas.push(child);
  }
  return schemas;
}

/** The schema of a place, or undefined if there is no such place. */
export function schemaAt(path: ConfigPath): z.core.$ZodType | undefined {
  const schemas = schemasAlong(path);
  return schemas.length === path.length + 1 ? schemas.at(-1) : undefined;
}

/** The keys that a group knows; none if it is no group. */
export function keysOf(schema: z.core.$ZodType): string[] {
  const def = definitionOf(inner(schema));
  return def.type === "object" ? Object.keys(def.shape) : [];
}

/** What a schema is made of, by its `type`. */
export function definitionOf(schema: z.core.$ZodType): z.core.$ZodTypes["_zod"]["def"] {
  return (schema as z.ZodType).def as z.core.$ZodTypes["_zod"]["def"];
}

/** A schema without what wraps it: default, optional, and the union of a group with something made by code. */
export function inner(schema: z.core.$ZodType): z.core.$ZodType {
  const def = definitionOf(schema);
  if (def.type === "optional" || def.type === "default" || def.type === "prefault")
    return inner(def.innerType);
  if (def.type === "union") return inner(def.options.at(-1) ?? schema);
  return schema;
}

function childOf(schema: z.core.$ZodType, part: string | number): z.core.$ZodType | undefined {
  const def = definitionOf(schema);
  if (def.type === "object") return Object.hasOwn(def.shape, part) ? def.shape[part] : undefined;
  if (def.type === "array") return typeof part === "number" ? def.element : undefined;
  if (def.type === "record") return def.valueType;
  return undefined;
}
