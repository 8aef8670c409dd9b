// Parts of a response as short texts.

import type { ResponseObject } from "../../protocol/response.ts";

/** All that the model has said. */
export function textOf({ output }: ResponseObject): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content.map(({ text }) => text) : []))
    .join("\n");
}

/** A time as a terminal shows it, in the zone of the person, or as programs read it. */
export function timeOf(seconds: number, isForPeople: boolean): string {
  const date = new Date(seconds * 1000);
  // The Swedish way to write a time is the one that sorts.
  return isForPeople ? date.toLocaleString("sv-SE") : date.toISOString();
}

/** What an item of an input says, as far as it is text; else what it is. */
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
