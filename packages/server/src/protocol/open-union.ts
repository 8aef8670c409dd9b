// Unions by `type` that stay open: objects of unknown types are accepted as they are, so that newer clients, and items
// and events of the config's executors, pass.

import { z } from "zod";

/** Adds objects of all other types to a union. `shape` has the fields that those share. Default: an id. */
export function openUnion<T extends z.ZodDiscriminatedUnion>(
  known: T,
  shape: z.ZodRawShape = { id: z.string().nullish() },
) {
  const types = fieldsByType(known);
  // It aborts, or zod blames this branch for a fault in a known one.
  const type = z
    .string()
    .refine((name) => !types.has(name), { error: "another type", abort: true })
    .meta({ not: { enum: [...types.keys()] } });
  return z.union([known, z.looseObject({ type, ...shape })]);
}

/** The types of a union, and the fields of each. */
export function fieldsByType(known: z.ZodDiscriminatedUnion): Map<unknown, ReadonlySet<string>> {
  const fields = new Map<unknown, ReadonlySet<string>>();
  for (const option of known.options)
    if (option instanceof z.ZodObject)
      for (const type of literals(option.shape["type"])) fields.set(type, new Set(Object.keys(option.shape)));
  return fields;
}

function literals(schema: unknown): unknown[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return literals(schema.unwrap());
  if (schema instanceof z.ZodEnum) return schema.options;
  return schema instanceof z.ZodLiteral ? [...schema.values] : [];
}
