// Images for a user's message, checked before they are sent.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkOptions, checkString } from "../error/check.ts";
import { warn } from "../error/logger.ts";
import type { ContentPart } from "../model/message.ts";

export interface ImageOptions {
  /** How closely the model looks, where it can choose. Default: the server's, which is `auto`. */
  detail?: "low" | "high" | "auto";
}

/** The part of a message that is an image. */
export type ImagePart = Extract<ContentPart, { type: "image_url" }>;

const longestUrl = 2_000;
const mostBytes = 10_000_000;

/**
 * Makes parts of a user's message from images.
 *
 * ```ts
 * import { readFile } from "node:fs/promises";
 *
 * const picture = image.fromBytes(await readFile("cat.png"), "image/png");
 * const content = [{ type: "text", text: "What is this?" }, picture];
 * ```
 */
export const image = {
  /** An image that the model server fetches (`http:`, `https:`), or a `data:image/…;base64,` URL. */
  fromUrl(url: string, options: ImageOptions = {}): ImagePart {
    checkUrl(url);
    return partOf(url, options);
  },

  /** An image as base64, with its type, such as `image/png`. */
  fromBase64(data: string, mimeType: string, options: ImageOptions = {}): ImagePart {
    checkMimeType(mimeType);
    checkBase64("data", data);
    return partOf(`data:${mimeType};base64,${data}`, options);
  },

  /** An image as bytes, as they are in a file, with its type, such as `image/png`. */
  fromBytes(bytes: Uint8Array | ArrayBuffer, mimeType: string, options: ImageOptions = {}): ImagePart {
    if (!(bytes instanceof Uint8Array || bytes instanceof ArrayBuffer))
      throw new InvalidTypeError({ field: "bytes", expected: "a Uint8Array", received: bytes });
    return image.fromBase64(toBase64(new Uint8Array(bytes)), mimeType, options);
  },
};

function partOf(url: string, options: ImageOptions): ImagePart {
  checkOptions("options", options, ["detail"]);
  const { detail } = options;
  if (detail !== undefined && !["low", "high", "auto"].includes(detail))
    throw new InvalidArgumentError({ field: "detail", expected: "low, high or auto", received: detail });
  return { type: "image_url", image_url: detail === undefined ? { url } : { url, detail } };
}

function checkUrl(url: unknown): void {
  const text = checkString("url", url);
  const expected = "an http:, https: or data:image/…;base64, URL";
  const hint = "For a file, read its bytes and use image.fromBytes().";
  const refuse = () => new InvalidArgumentError({ field: "url", expected, received: url, hint });
  const [scheme = ""] = text.split(":", 1);
  if (scheme.toLowerCase() === "data") {
    const comma = text.indexOf(",");
    const head = text.slice("data:".length, comma);
    if (comma < 0 || !/;base64$/i.test(head)) throw refuse();
    checkMimeType(head.slice(0, -";base64".length), "url");
    checkBase64("url", text.slice(comma + 1));
    return;
  }
  if (/\p{Cc}/u.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text)) throw refuse();
  if (text.length > longestUrl)
    warn(
      `The URL of an image has ${text.length} characters, which some servers reject: ${text.slice(0, 100)}…`,
    );
}

function checkMimeType(mimeType: unknown, field = "mimeType"): void {
  const text = checkString(field, mimeType);
  if (/^image\/[\w.+-]+$/i.test(text)) return;
  throw new InvalidArgumentError({ field, expected: "an image's type, such as image/png", received: text });
}

function checkBase64(field: string, data: unknown): void {
  const text = checkString(field, data);
  if (text.length === 0 || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw new InvalidArgumentError({
      field,
      expected: "base64: letters, digits, + and /, filled up with = to a multiple of 4",
      received: text,
      hint: "Give the data alone, without line breaks.",
    });
  const bytes = (text.length / 4) * 3;
  if (bytes > mostBytes)
    warn(`An image has ${Math.round(bytes / 1_000_000)} MB, which most servers reject: make it smaller.`);
}

/** `btoa` takes characters, and all bytes of an image are too many arguments for one call. */
function toBase64(bytes: Uint8Array): string {
  const size = 0x8000;
  let characters = "";
  for (let start = 0; start < bytes.length; start += size)
    characters += String.fromCharCode(...bytes.subarray(start, start + size));
  return btoa(characters);
}
