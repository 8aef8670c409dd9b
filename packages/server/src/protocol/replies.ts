// The bodies of replies that are neither a response nor a conversation.

import { z } from "zod";
import { containerFileSchema, containerSchema } from "./container-object.ts";
import { fileSchema } from "./file-object.ts";
import { inputItem } from "./input-items.ts";
import { outputItemSchema } from "./items.ts";
import { responseSchema, usageSchema } from "./response.ts";

export function listOf(item: z.ZodType) {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

function deleted(object: string) {
  return z.object({ id: z.string(), object: z.literal(object), deleted: z.literal(true) });
}

export const itemSchema = z.union([outputItemSchema, inputItem]);
export const itemListSchema = listOf(itemSchema);
export const responseListSchema = listOf(responseSchema);
export const fileListSchema = listOf(fileSchema);
export const containerListSchema = listOf(containerSchema);
export const containerFileListSchema = listOf(containerFileSchema);
export const deletedContainerSchema = deleted("container.deleted");
export const deletedContainerFileSchema = deleted("container.file.deleted");
export const deletedFileSchema = deleted("file");
export const deletedResponseSchema = deleted("response");
export const deletedConversationSchema = deleted("conversation.deleted");

export const compactedResponseSchema = z.object({
  id: z.string(),
  object: z.literal("response.compaction"),
  created_at: z.int(),
  output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  usage: usageSchema,
});

export const inputTokensReplySchema = z.object({
  object: z.literal("response.input_tokens"),
  input_tokens: z.int(),
});

export const modelSchema = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  /** False if its model server does not answer now; an extension, left out otherwise. */
  available: z.literal(false).exactOptional(),
});

/** How many model servers answer. An extension. */
const modelServersSchema = z.object({ up: z.int(), down: z.int() });

export const modelListSchema = z.object({
  object: z.literal("list"),
  data: z.array(modelSchema),
  model_servers: modelServersSchema.exactOptional(),
});

export const readySchema = z.object({
  status: z.string(),
  model_servers: modelServersSchema.exactOptional(),
});

export const errorReplySchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});
