// Conversations: what clients send to make and change them, and the objects that they get.

import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { metadataSchema } from "./create-request-schema.ts";
import { fieldError } from "./field-error.ts";
import { inputItem, toItems } from "./input-items.ts";
import { checkUrls, defaultUrlRules, type UrlRules } from "./input-urls.ts";
import type { InputItem } from "./items.ts";
import { checkSize } from "./json-size.ts";
import { toMetadata } from "./metadata.ts";

export interface ConversationObject {
  id: string;
  object: "conversation";
  /** Seconds, as the API has them. */
  created_at: number;
  metadata: Record<string, string>;
}

export const conversationSchema = z.object({
  id: z.string(),
  object: z.literal("conversation"),
  created_at: z.int(),
  metadata: z.record(z.string(), z.string()),
});

export const createConversationSchema = z.looseObject({
  items: z.array(inputItem).nullish(),
  metadata: metadataSchema.nullish(),
});

export const updateConversationSchema = z.looseObject({ metadata: metadataSchema.nullable() });

export const addItemsSchema = z.looseObject({ items: z.array(inputItem) });

/** No list of a request needs more. */
const maxEntries = 10_000;

export interface ConversationLimits {
  /** How many items may come at a time. */
  maxItems: number;
  /** Which URLs they may have. Default: those of public hosts. */
  urls?: UrlRules;
}

/** Reads the body of POST /v1/conversations, which may be empty. Throws an `ApiError` (400). */
export function parseCreateConversation(
  body: unknown,
  limits: ConversationLimits,
): { items: InputItem[]; metadata: Record<string, string> } {
  const given = body ?? {};
  checkItemCount(given, limits);
  const { items, metadata } = parse(createConversationSchema, given);
  checkUrls(items, limits.urls ?? defaultUrlRules, ["items"]);
  return { items: itemsOf(given), metadata: toMetadata(metadata) };
}

/** Reads the body of POST /v1/conversations/{id}. Throws an `ApiError` (400). */
export function parseUpdateConversation(body: unknown): { metadata: Record<string, string> } {
  checkSize(body, maxEntries);
  return { metadata: toMetadata(parse(updateConversationSchema, body).metadata) };
}

/** Reads the body of POST /v1/conversations/{id}/items. Throws an `ApiError` (400). */
export function parseAddItems(body: unknown, limits: ConversationLimits): InputItem[] {
  checkItemCount(body, limits);
  const { items } = parse(addItemsSchema, body);
  checkUrls(items, limits.urls ?? defaultUrlRules, ["items"]);
  return itemsOf(body);
}

/** Before anything else, so that a huge list costs nothing. */
function checkItemCount(body: unknown, { maxItems }: ConversationLimits): void {
  const { items } = Object(body) as { items?: unknown };
  if (Array.isArray(items) && items.length > maxItems)
    throw invalidRequest(
      "items",
      `items: expected at most ${maxItems} items, got ${items.length}. Send fewer at a time.`,
    );
  checkSize(body, Math.max(maxEntries, maxItems));
}

function parse<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const { success, data, error } = schema.safeParse(body);
  if (!success) throw fieldError(error, body);
  return data;
}

/** From the body itself: what zod gives has the keys in another order. */
function itemsOf(body: unknown): InputItem[] {
  return toItems((body as { items?: Parameters<typeof toItems>[0] | null }).items ?? []);
}
