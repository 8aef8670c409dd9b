// A page of a list, in the format of the API.

import { invalidRequest } from "../protocol/api-error.ts";
import type { Page } from "../store/store.ts";
import { isStoreError } from "../store/store-error.ts";

export interface ListObject<T> {
  object: "list";
  data: T[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export function toList<T extends { id?: string }>({ data, hasMore }: Page<T>): ListObject<T> {
  return {
    object: "list",
    data: [...data],
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** Turns an unknown cursor into a 400. */
export function toCursorError(error: unknown): never {
  if (isStoreError(error, "unknown_cursor"))
    throw invalidRequest(error.message.startsWith('"before"') ? "before" : "after", error.message);
  throw error;
}
