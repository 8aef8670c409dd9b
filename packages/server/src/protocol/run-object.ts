// A run as lists show it: short, without its items.

import { z } from "zod";
import { itemSchema, listOf } from "./replies.ts";
import { responseErrorSchema, responseSchema } from "./response.ts";
import { responseStatuses } from "./status.ts";

const ms = z.number();

export const runSchema = z.object({
  object: z.literal("run"),
  id: z.string(),
  /** The beginning of the last user message of its input, on one line; empty if there is none. */
  title: z.string(),
  model: z.string(),
  status: z.enum(responseStatuses),
  background: z.boolean(),
  /** `metadata.source` of the request. */
  source: z.string().nullable(),
  /** The first response of its chain, or its conversation. */
  thread_id: z.string(),
  previous_response_id: z.string().nullable(),
  created_at_ms: ms,
  completed_at_ms: ms.nullable(),
  usage: z
    .object({
      input_tokens: z.int(),
      output_tokens: z.int(),
      total_tokens: z.int(),
      cached_tokens: z.int(),
    })
    .nullable(),
  error: responseErrorSchema.nullable(),
  /** With `include=response`. */
  response: responseSchema.exactOptional(),
  /** With `include=input`: the beginning of its input, and whether there is more of it. */
  input: z.object({ data: z.array(itemSchema), has_more: z.boolean() }).exactOptional(),
});

export const runListSchema = listOf(runSchema);

export type RunObject = z.infer<typeof runSchema>;
