// How zod schemas are written down in the description of the API.

import type { z } from "zod";

/** Options for `z.toJSONSchema`: as clients may send it, and without the range that zod gives every whole number. */
export const schemaOptions = {
  io: "input",
  override({ jsonSchema }) {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
} as const satisfies z.core.ToJSONSchemaParams;
