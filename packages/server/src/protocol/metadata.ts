// Metadata that clients attach to responses and conversations: numbers and booleans become strings, nulls are dropped.

import { z } from "zod";

/** As the API has it: 16 pairs, keys of 64 and values of 512 characters. */
export const metadataSchema = z
  .record(z.string(), z.union([z.string().max(512), z.number(), z.boolean(), z.null()]))
  .refine((pairs) => Object.keys(pairs).length <= 16, { error: "an object of at most 16 pairs" })
  .refine((pairs) => Object.keys(pairs).every((key) => key.length <= 64), {
    error: "an object with keys of at most 64 characters",
  });

export function toMetadata(given: z.infer<typeof metadataSchema> | null | undefined): Record<string, string> {
  const pairs = Object.entries(given ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(pairs.map(([key, value]) => [key, String(value)]));
}
