// Checks the URLs of images, files, audio and video in requests. The model server may fetch them from a network that the
// client cannot reach, so only those of public hosts are accepted, unless the config allows more.

import { hasHost, isPrivateHost } from "../net/host-rules.ts";
import { type ApiError, invalidRequest } from "./api-error.ts";
import { describeValue, formatPath } from "./field-error.ts";

export interface UrlRules {
  /** Allowed schemes. */
  readonly schemes: readonly string[];
  /** Allowed private hosts, with or without a port; `*` for all. */
  readonly allowPrivate: readonly string[];
}

/** `https`, `http` and `data`, and no private hosts. */
export const defaultUrlRules: UrlRules = { schemes: ["https", "http", "data"], allowPrivate: [] };

type Path = readonly PropertyKey[];

/** Fields that hold a URL, as a string or in their `url`. */
const urlFields = /^(?:image|file|video|audio)_url$/;

/** A string that is a fetchable URL, whatever its field is called. */
const fetchable = /^\s*(?:https?|file|ftp):/i;

/** Throws a 400 for the first URL in `value` that is not allowed. The value must not be nested too deeply. */
export function checkUrls(value: unknown, rules: UrlRules, path: Path = []): void {
  walk(value, rules, [...path], false);
}

/**
 * As `checkUrls`, for messages that are forwarded as they are: the model server may know kinds of parts that are unknown
 * here, so all parts but text are searched for URLs.
 */
export function checkMessageUrls(messages: unknown, rules: UrlRules): void {
  if (!Array.isArray(messages)) return;
  for (const [index, message] of messages.entries()) {
    const content = (message as { content?: unknown } | null)?.content;
    if (!Array.isArray(content)) continue;
    for (const [position, part] of content.entries())
      if ((part as { type?: unknown } | null)?.type !== "text")
        walk(part, rules, ["messages", index, "content", position], true);
  }
}

/** `path` leads to the value; it is changed during the walk, and restored. */
function walk(value: unknown, rules: UrlRules, path: PropertyKey[], isMedia: boolean): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value))
    for (let index = 0; index < value.length; index += 1)
      visit(value[index], index, "", rules, path, isMedia);
  else
    for (const key in value)
      visit((value as Readonly<Record<string, unknown>>)[key], key, key, rules, path, isMedia);
}

function visit(
  inner: unknown,
  at: PropertyKey,
  field: string,
  rules: UrlRules,
  path: PropertyKey[],
  isMedia: boolean,
): void {
  const isText = typeof inner === "string";
  // Nearly all of a request: texts of fields that have no URL.
  if (isText ? !isMedia && !field.endsWith("_url") : typeof inner !== "object") return;
  path.push(at);
  if (urlFields.test(field)) {
    const url: unknown = isText ? inner : (inner as { url?: unknown } | null)?.url;
    if (typeof url === "string") checkUrl(url, field, rules, isText ? path : [...path, "url"]);
  } else if (isMedia && isText && fetchable.test(inner)) checkUrl(inner, field, rules, path);
  walk(inner, rules, path, isMedia);
  path.pop();
}

const maxUrlLength = 8192;

/**
 * Only URLs that all parsers read alike: with a backslash, a user, an escape in the host or a line break, another parser
 * may find another host.
 */
const plainUrl = /^https?:\/\/[^\s\p{Cc}\\@/?#%]+(?:[/?#][^\s\p{Cc}\\]*)?$/iu;

function checkUrl(text: string, field: string, rules: UrlRules, path: Path): void {
  // Counts as absent.
  if (text === "") return;
  const scheme = /^([a-z][a-z0-9+.-]{0,31}):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !rules.schemes.includes(scheme)) {
    const schemes = rules.schemes.map((name) => `${name}:`).join(", ");
    throw notAllowed(path, text, `a URL that begins with one of ${schemes}`, "urls.schemes");
  }
  if (scheme === "data") {
    if (field === "image_url" && !/^data:image\/[\w.+*-]{1,100}[;,]/i.test(text))
      throw notAllowed(path, text, "a data URL of an image (data:image/…)");
    return;
  }
  if (scheme !== "http" && scheme !== "https") return;
  const url = text.length <= maxUrlLength && plainUrl.test(text) ? URL.parse(text) : null;
  if (url === null)
    throw notAllowed(
      path,
      text,
      `an http or https URL of at most ${maxUrlLength} characters, without a user, spaces or backslashes`,
    );
  const allowed = new Set(rules.allowPrivate.map((host) => host.toLowerCase()));
  if (isPrivateHost(url) && !hasHost(allowed, url))
    throw notAllowed(path, text, "the URL of a public host", "urls.allowPrivate");
}

function notAllowed(path: Path, text: string, expected: string, setting?: string): ApiError {
  const param = formatPath(path);
  const hint = setting === undefined ? "" : ` The server's operator can allow it with ${setting}.`;
  return invalidRequest(
    param,
    `${param}: expected ${expected}, got ${describeValue(text)}.${hint}`,
    "url_not_allowed",
  );
}
