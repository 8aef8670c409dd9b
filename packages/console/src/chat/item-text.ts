// What an item of a chat says: its text, its images, and what else it has.

import type { ContentPart, Item } from "../api/response.ts";

/** The text of a message, of a thought, or of what a tool is called with. */
export function textOf(item: Item): string {
  switch (item.type) {
    case "message":
      return textOfParts(item.content);
    case "reasoning":
      return textOfParts(item.summary?.length ? item.summary : item.content);
    case "custom_tool_call":
      return item.input ?? "";
    case "code_interpreter_call":
      return item.code ?? "";
    default:
      return item.arguments ?? "";
  }
}

function textOfParts(content: Item["content"] | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap(({ text }) => text ?? []).join("\n\n");
}

/** The images of a message that are in the message itself. Others would be requests to elsewhere. */
export function imagesOf(item: Item): string[] {
  return partsOf(item).flatMap((part) => imageOf(part) ?? []);
}

/** What else a message has, such as files: it is named, and sent again when the message is edited. */
export function otherPartsOf(item: Item): ContentPart[] {
  return partsOf(item).filter((part) => part.text === undefined && imageOf(part) === undefined);
}

function imageOf({ image_url: image }: ContentPart): string | undefined {
  const url = typeof image === "string" ? image : image?.url;
  return url !== undefined && /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(url) ? url : undefined;
}

function partsOf({ content }: Item): readonly ContentPart[] {
  return Array.isArray(content) ? (content as readonly ContentPart[]) : [];
}
