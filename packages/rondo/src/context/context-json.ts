// What saved queues and pools have in common.

import { InvalidJsonError } from "../error/json-errors.ts";
import type { SavedObject } from "../json/read.ts";
import { ContextItem } from "./context-item.ts";
import type { ContextScope } from "./context-scope.ts";

export function readLimit(saved: SavedObject): number {
  const limit = saved.number("limit");
  if (limit !== undefined && Number.isInteger(limit) && limit >= 1) return limit;
  throw new InvalidJsonError(saved.pathOf("limit"), "a whole number from 1", limit);
}

export function readItems(saved: SavedObject, scope: ContextScope): ContextItem[] {
  return saved
    .list("items")
    .map((item, index) =>
      ContextItem.fromJSON(item, { ...scope, path: `${saved.pathOf("items")}[${index}]` }),
    );
}
