// Contents of messages and tool outputs: text, or parts. Models read text and images.

import type { ContentPart, JsonValue } from "rondo";

/** The text of all parts, joined. */
export function contentText(content: JsonValue): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === null ? "" : JSON.stringify(content);
  let text = "";
  for (const part of content) text += textOf(part);
  return text;
}

/** Content for a user message: a string if it is text only, else parts. */
export function userContent(content: JsonValue, onIgnored: (what: string) => void): string | ContentPart[] {
  if (!Array.isArray(content)) return contentText(content);
  const parts = content.flatMap((part) => toPart(part, onIgnored));
  return parts.every((part) => part.type === "text") ? parts.map((part) => part.text).join("") : parts;
}

function textOf(part: JsonValue): string {
  if (typeof part === "string") return part;
  if (typeof part !== "object" || part === null || Array.isArray(part)) return "";
  const { text, refusal } = part;
  return typeof text === "string" ? text : typeof refusal === "string" ? refusal : "";
}

function toPart(part: JsonValue, onIgnored: (what: string) => void): ContentPart[] {
  const text = textOf(part);
  if (text !== "") return [{ type: "text", text }];
  if (typeof part !== "object" || part === null || Array.isArray(part)) return [];
  const { type, image_url: image, detail } = part;
  const url = typeof image === "object" && image !== null && !Array.isArray(image) ? image["url"] : image;
  if (typeof url === "string") {
    if (detail !== "low" && detail !== "high") return [{ type: "image_url", image_url: { url } }];
    return [{ type: "image_url", image_url: { url, detail } }];
  }
  if (type !== "input_text") onIgnored(`a content part of the type ${JSON.stringify(type)}`);
  return [];
}
