// Paths in a configuration: how they are written, and what the schema says about them.

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

/** The value at a path; undefined if there is none. */
export function valueAt(values: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((value, part) => Object(value)[part], values);
}

/** The schemas from the root to a path, as far as the schema knows it. */
export function schemasAlong(path: ConfigPath): z.core.$ZodType[] {
  const schemas: z.core.$ZodType[] = [configSchema];
  for (const part of path) {
    const child = childOf(inner(schemas.at(-1) ?? configSchema), part);
    if (child === undefined) break;
    schemas.push(child);
  }
  return schemas;
}

/** The schema of a path, or undefined if there is no such setting. */
export function schemaAt(path: ConfigPath): z.core.$ZodType | undefined {
  const schemas = schemasAlong(path);
  return schemas.length === path.length + 1 ? schemas.at(-1) : undefined;
}

/** The keys of a group; none if it is not a group. */
export function keysOf(schema: z.core.$ZodType): string[] {
  const def = definitionOf(inner(schema));
  return def.type === "object" ? Object.keys(def.shape) : [];
}

/** What a schema is made of, by its `type`. */
export function definitionOf(schema: z.core.$ZodType): z.core.$ZodTypes["_zod"]["def"] {
  return (schema as z.ZodType).def as z.core.$ZodTypes["_zod"]["def"];
}

/** A schema without its wrappers: default, optional, and the union with a value made by code. */
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

/** Text of the environment or a flag as the value that it stands for. Invalid text is left for the schema to report. */
export function valueFromText(text: string, path: ConfigPath): unknown {
  const schema = schemaAt(path);
  const type = schema && definitionOf(inner(schema)).type;
  const trimmed = text.trim();
  if (type === "number") return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(trimmed) ? Number(trimmed) : text;
  if (type === "boolean") return { true: true, "1": true, false: false, "0": false }[trimmed] ?? text;
  if (type !== "array") return text;
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}
