// Conversations: the bodies that create and change them, and the object that clients get.

import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { parseField } from "./field-error.ts";
import { inputItem, toItems } from "./input-items.ts";
import { checkUrls, defaultUrlRules, type UrlRules } from "./input-urls.ts";
import type { InputItem } from "./items.ts";
import { checkSize } from "./json-size.ts";
import { metadataSchema, toMetadata } from "./metadata.ts";

export const conversationSchema = z.object({
  id: z.string(),
  object: z.literal("conversation"),
  /** In seconds. */
  created_at: z.int(),
  metadata: z.record(z.string(), z.string()),
});

export type ConversationObject = z.infer<typeof conversationSchema>;

export const createConversationSchema = z.looseObject({
  items: z.array(inputItem).nullish(),
  metadata: metadataSchema.nullish(),
});

export const updateConversationSchema = z.looseObject({ metadata: metadataSchema.nullable() });

export const addItemsSchema = z.looseObject({ items: z.array(inputItem) });

export interface ConversationLimits {
  /** How many items one request may bring. */
  maxItems: number;
  /** The URLs that they may have. Default: those of public hosts. */
  urls?: UrlRules;
}

/** Reads the body of POST /v1/conversations, which may be empty. Throws an `ApiError` (400). */
export function parseCreateConversation(
  body: unknown,
  limits: ConversationLimits,
): { items: InputItem[]; metadata: Record<string, string> } {
  const given = body ?? {};
  checkItemCount(given, limits);
  const { items, metadata } = parseField(createConversationSchema, given);
  checkUrls(items, limits.urls ?? defaultUrlRules, ["items"]);
  return { items: itemsOf(given), metadata: toMetadata(metadata) };
}

/** Reads the body of POST /v1/conversations/{id}. Throws an `ApiError` (400). */
export function parseUpdateConversation(body: unknown): { metadata: Record<string, string> } {
  checkSize(body);
  return { metadata: toMetadata(parseField(updateConversationSchema, body).metadata) };
}

/** Reads the body of POST /v1/conversations/{id}/items. Throws an `ApiError` (400). */
export function parseAddItems(body: unknown, limits: ConversationLimits): InputItem[] {
  checkItemCount(body, limits);
  const { items } = parseField(addItemsSchema, body);
  checkUrls(items, limits.urls ?? defaultUrlRules, ["items"]);
  return itemsOf(body);
}

/** Checked first, so that a huge list costs nothing. */
function checkItemCount(body: unknown, { maxItems }: ConversationLimits): void {
  const { items } = Object(body) as { items?: unknown };
  if (Array.isArray(items) && items.length > maxItems)
    throw invalidRequest(
      "items",
      `items: expected at most ${maxItems} items, got ${items.length}. Send fewer at a time.`,
    );
  checkSize(body, maxItems);
}

/** From the body itself: zod reorders the keys. */
function itemsOf(body: unknown): InputItem[] {
  return toItems((body as { items?: Parameters<typeof toItems>[0] | null }).items ?? []);
}
