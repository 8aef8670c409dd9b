// An immutable piece of context.

import { checkOptions, checkString, requireType } from "../error/check.ts";
import { InvalidJsonError, UnserializableError } from "../error/json-errors.ts";
import { decode, defineJsonType, encode } from "../json/codec.ts";
import type { JsonObject } from "../json/json-value.ts";
import { SavedObject } from "../json/read.ts";
import { sortedJson } from "../json/sorted-json.ts";
import { type ContextScope, checkScope } from "./context-scope.ts";

export interface ContextItemOptions<T = unknown> {
  content: T;
  /** A summary, for the catalogue of a pool. Required in a pool. Default: none. */
  description?: string | null;
  /** An agent keeps items with an id in its pool, and others in its queue. Default: none. */
  id?: string | null;
}

/** A piece of context. A tool that returns one adds it to its agent's queue or pool. */
export class ContextItem<T = unknown> {
  readonly content: T;
  readonly description: string | null;
  readonly id: string | null;

  constructor(options: ContextItemOptions<T>) {
    checkOptions("options", options, ["content", "description", "id"]);
    requireType(Object.hasOwn(options, "content"), "content", "any value, but it must be given", undefined);
    const { content, description = null, id = null } = options;
    this.content = content;
    this.description = description === null ? null : checkString("description", description);
    this.id = id === null ? null : checkString("id", id);
    Object.freeze(this);
  }

  /** Whether another item has the same id, description and content. */
  equals(other: unknown): boolean {
    if (!(other instanceof ContextItem)) return false;
    const { id, description, content } = this;
    return id === other.id && description === other.description && sameContent(content, other.content);
  }

  toJSON(): JsonObject {
    return writeItem(this, "content");
  }

  /** Restores an item. What its content needs, such as the tools of turns, comes from `scope`. */
  static fromJSON(json: unknown, scope: ContextScope = {}): ContextItem {
    checkScope(scope);
    const saved = new SavedObject(json, scope.path ?? "contextItem");
    if (!saved.has("content")) throw new InvalidJsonError(saved.pathOf("content"), "any value", undefined);
    return new ContextItem({
      content: decode(saved.raw("content") ?? null, scope, saved.pathOf("content")),
      description: saved.optionalString("description") ?? null,
      id: saved.optionalString("id") ?? null,
    });
  }
}

defineJsonType<ContextItem, object | undefined>({
  tag: "contextItem",
  is: (value) => value instanceof ContextItem,
  encode: (item, path) => writeItem(item, `${path}.content`),
  decode: (json, scope, path) => ContextItem.fromJSON(json, { ...scope, path }),
});

function writeItem({ id, description, content }: ContextItem, contentPath: string): JsonObject {
  return { id, description, content: encode(content, contentPath) };
}

/** Equal as data; the order of keys does not count. What cannot be saved is only equal to itself. */
function sameContent(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  try {
    return sortedJson(encode(one, "content")) === sortedJson(encode(other, "content"));
  } catch (error) {
    if (error instanceof UnserializableError) return false;
    throw error;
  }
}

export function checkItem(field: string, value: unknown): ContextItem {
  const hint = "Wrap it: `new ContextItem({ content })`.";
  requireType(value instanceof ContextItem, field, "a ContextItem", value, hint);
  return value;
}
