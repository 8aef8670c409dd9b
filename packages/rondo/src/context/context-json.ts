// What saved queues and pools have in common.

import { InvalidJsonError } from "../error/json-errors.ts";
import type { SavedObject } from "../json/read.ts";
import type { Registry } from "../registry/registry.ts";
import { ContextItem } from "./context-item.ts";

/** Where saved context is restored to, and where it stands in the data. */
export interface ContextScope {
  /** Whose hooks are fired, and where the tools of saved turns are. Default: the process's default registry. */
  registry?: Registry;
  /** Tools of saved turns that are in no registry, looked through first. */
  tools?: Iterable<unknown>;
  /** Where the data stands in a larger whole, for error messages. */
  path?: string;
}

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
