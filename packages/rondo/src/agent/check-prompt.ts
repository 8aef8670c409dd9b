// Checks prompts.

import { isPlainObject, requireType, requireValue } from "../error/check.ts";

/** Text, or a list of parts: each of them text, or an image as `image.fromUrl()` and its siblings make it. */
export function checkPrompt(prompt: unknown): void {
  if (typeof prompt === "string") return;
  requireType(Array.isArray(prompt), "prompt", "a string, or a list of content parts", prompt);
  requireValue(prompt.length > 0, "prompt", "at least one content part", prompt);
  for (const [index, part] of prompt.entries()) {
    const expected = '{ type: "text", text } or an image, such as image.fromUrl(…)';
    requireType(isTextPart(part) || isImagePart(part), `prompt[${index}]`, expected, part);
  }
}

function isTextPart(part: unknown): boolean {
  return isPlainObject(part) && part["type"] === "text" && typeof part["text"] === "string";
}

function isImagePart(part: unknown): boolean {
  if (!isPlainObject(part) || part["type"] !== "image_url") return false;
  return isPlainObject(part["image_url"]) && typeof part["image_url"]["url"] === "string";
}
