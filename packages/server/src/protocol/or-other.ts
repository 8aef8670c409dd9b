// "One of these, or something that this server does not know": how the API stays open to newer clients.

import { z } from "zod";

/** Adds objects of all other types to a union by `type`: they are taken as they are. */
export function orOther<T extends z.ZodDiscriminatedUnion>(known: T) {
  const types = typesOf(known);
  // It aborts, or zod takes this form for the one that was meant.
  const type = z.string().refine((name) => !types.includes(name), { error: "another type", abort: true });
  return z.union([known, z.looseObject({ type, id: z.string().nullish() })]);
}

/** The types that a union by `type` knows. */
export function typesOf(known: z.ZodDiscriminatedUnion): string[] {
  return known.options.flatMap((option) =>
    option instanceof z.ZodObject ? literals(option.shape["type"]) : [],
  );
}

function literals(schema: unknown): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return literals(schema.unwrap());
  if (!(schema instanceof z.ZodLiteral)) return [];
  return [...schema.values].filter((value) => typeof value === "string");
}
