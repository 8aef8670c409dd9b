// "One of these, or something that this server does not know": how the API stays open to newer clients.

import { z } from "zod";

/** Adds objects of all other types to a union by `type`: they are taken as they are. */
export function orOther<T extends z.ZodDiscriminatedUnion>(known: T) {
  const types = fieldsByType(known);
  // It aborts, or zod takes this form for the one that was meant.
  const type = z
    .string()
    .refine((name) => !types.has(name), { error: "another type", abort: true })
    .meta({ not: { enum: [...types.keys()] } });
  return z.union([known, z.looseObject({ type, id: z.string().nullish() })]);
}

/** The types that a union by `type` knows, and the fields that each has. */
export function fieldsByType(known: z.ZodDiscriminatedUnion): Map<unknown, ReadonlySet<string>> {
  const fields = new Map<unknown, ReadonlySet<string>>();
  for (const option of known.options)
    if (option instanceof z.ZodObject)
      for (const type of literals(option.shape["type"])) fields.set(type, new Set(Object.keys(option.shape)));
  return fields;
}

function literals(schema: unknown): unknown[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return literals(schema.unwrap());
  return schema instanceof z.ZodLiteral ? [...schema.values] : [];
}
