// Parts of a response as text.

import type { ResponseObject } from "../../protocol/response.ts";

/** The text of all messages. */
export function textOf({ output }: ResponseObject): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content.map(({ text }) => text) : []))
    .join("\n");
}

/** A time: local for people, ISO in UTC for programs. */
export function timeOf(seconds: number, isForPeople: boolean): string {
  const date = new Date(seconds * 1000);
  // The Swedish format is ISO-like.
  return isForPeople ? date.toLocaleString("sv-SE") : date.toISOString();
}

/** The text of an input item, or its JSON. */
export function textOfInput(item: Readonly<Record<string, unknown>>): string {
  const { content, output } = item;
  const said = content ?? output;
  if (typeof said === "string") return said;
  if (!Array.isArray(said)) return JSON.stringify(item);
  return said
    .map((part: unknown) => {
      const { text, type } = Object(part) as { text?: unknown; type?: unknown };
      return typeof text === "string" ? text : `(${String(type)})`;
    })
    .join("\n");
}
