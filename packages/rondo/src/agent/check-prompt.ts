// Checks prompts.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";

/** Text, or a list of parts: each of them text, or an image as `image.fromUrl()` and its siblings make it. */
export function checkPrompt(prompt: unknown): void {
  if (typeof prompt === "string") return;
  if (!Array.isArray(prompt))
    throw new InvalidTypeError({
      field: "prompt",
      expected: "a string, or a list of content parts",
      received: prompt,
    });
  if (prompt.length === 0)
    throw new InvalidArgumentError({
      field: "prompt",
      expected: "at least one content part",
      received: prompt,
    });
  for (const [index, part] of prompt.entries())
    if (!isTextPart(part) && !isImagePart(part))
      throw new InvalidTypeError({
        field: `prompt[${index}]`,
        expected: '{ type: "text", text } or an image, such as image.fromUrl(…)',
        received: part,
      });
}

function isTextPart(part: unknown): boolean {
  return isPlainObject(part) && part["type"] === "text" && typeof part["text"] === "string";
}

function isImagePart(part: unknown): boolean {
  if (!isPlainObject(part) || part["type"] !== "image_url") return false;
  return isPlainObject(part["image_url"]) && typeof part["image_url"]["url"] === "string";
}
