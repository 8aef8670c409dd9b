// A piece of what an agent knows.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkOptions, checkString } from "../error/check.ts";
import { decode, defineJsonType, encode } from "../json/codec.ts";
import type { JsonObject } from "../json/json-value.ts";
import { SavedObject } from "../json/read.ts";

export interface ContextItemOptions<T = unknown> {
  content: T;
  /** What the item is about, for a catalogue. An item of a pool must have one. */
  description?: string | null;
  /** With an id, an agent keeps the item in its pool; without one, in its queue. */
  id?: string | null;
}

/** An immutable piece of context. A tool that returns one adds it to its agent's queue or pool. */
export class ContextItem<T = unknown> {
  readonly content: T;
  readonly description: string | null;
  readonly id: string | null;

  constructor(options: ContextItemOptions<T>) {
    checkOptions("options", options, ["content", "description", "id"]);
    if (!Object.hasOwn(options, "content"))
      throw new InvalidTypeError({ field: "content", expected: "any value, but it must be given" });
    const { content, description = null, id = null } = options;
    this.content = content;
    this.description = description === null ? null : checkString("description", description);
    this.id = id === null ? null : checkString("id", id);
    Object.freeze(this);
  }

  /** Whether another item says the same: equal id, description and content. */
  equals(other: unknown): boolean {
    return other instanceof ContextItem && JSON.stringify(this.toJSON()) === JSON.stringify(other.toJSON());
  }

  toJSON(): JsonObject {
    const { id, description, content } = this;
    return { id, description, content: encode(content, "content") };
  }

  static fromJSON(json: unknown, path = "contextItem"): ContextItem {
    const saved = new SavedObject(json, path);
    return new ContextItem({
      content: decode(saved.raw("content") ?? null, undefined, saved.pathOf("content")),
      description: saved.optionalString("description") ?? null,
      id: saved.optionalString("id") ?? null,
    });
  }
}

defineJsonType<ContextItem, unknown>({
  tag: "contextItem",
  is: (value) => value instanceof ContextItem,
  encode: (item) => item.toJSON(),
  decode: (json, _scope, path) => ContextItem.fromJSON(json, path),
});

export function checkItem(field: string, value: unknown): ContextItem {
  if (value instanceof ContextItem) return value;
  throw new InvalidTypeError({
    field,
    expected: "a ContextItem",
    received: value,
    hint: "Wrap it: `new ContextItem({ content })`.",
  });
}
