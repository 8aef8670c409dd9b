// The URLs in what clients send: of images, files, sound and video. The model server may fetch them, from a network
// that the client may not see, so only those of public hosts are taken, unless the config allows more.

import { hasHost, isPrivateHost } from "../net/host-rules.ts";
import { type ApiError, invalidRequest } from "./api-error.ts";
import { describeValue, formatPath } from "./field-error.ts";

export interface UrlRules {
  /** Schemes that a URL may have. */
  readonly schemes: readonly string[];
  /** Hosts that may be private, with or without a port; `*` for all. */
  readonly allowPrivate: readonly string[];
}

/** `https`, `http` and `data`, and no private hosts. */
export const defaultUrlRules: UrlRules = { schemes: ["https", "http", "data"], allowPrivate: [] };

type Path = readonly PropertyKey[];

/** Fields whose text, or whose `url`, is a URL. */
const urlFields = /^(?:image|file|video|audio)_url$/;

/** A text that is a URL which something may fetch, whatever its field is called. */
const fetchable = /^\s*(?:https?|file|ftp):/i;

/** Throws a 400 for the first URL in `value` that is not allowed. The value must not be nested too deeply. */
export function checkUrls(value: unknown, rules: UrlRules, path: Path = []): void {
  walk(value, rules, [...path], false);
}

/**
 * As `checkUrls`, for messages that a model server gets as they are: it may know kinds of parts that are not known
 * here, so all that is not text is looked through for URLs.
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

/** `path` leads to the value; it is changed on the way, and then is as it was. */
function walk(value: unknown, rules: UrlRules, path: PropertyKey[], isMedia: boolean): void {
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner !== "object" && typeof inner !== "string") continue;
    path.push(isList ? Number(key) : key);
    if (urlFields.test(key)) {
      const isText = typeof inner === "string";
      const url: unknown = isText ? inner : inner?.url;
      if (typeof url === "string") checkUrl(url, key, rules, isText ? path : [...path, "url"]);
    } else if (isMedia && typeof inner === "string" && fetchable.test(inner))
      checkUrl(inner, key, rules, path);
    walk(inner, rules, path, isMedia);
    path.pop();
  }
}

const longestUrl = 8192;

/**
 * Only what every parser reads in the same way: with a backslash, a user, an escape in the host or a line break,
 * another one may find another host.
 */
const plainUrl = /^https?:\/\/[^\s\p{Cc}\\@/?#%]+(?:[/?#][^\s\p{Cc}\\]*)?$/iu;

function checkUrl(text: string, field: string, rules: UrlRules, path: Path): void {
  // No URL at all.
  if (text === "") return;
  const scheme = /^([a-z][a-z0-9+.-]{0,31}):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !rules.schemes.includes(scheme)) {
    const schemes = rules.schemes.map((name) => `${name}:`).join(", ");
    throw refused(path, text, `a URL that begins with one of ${schemes}`, "urls.schemes");
  }
  if (scheme === "data") {
    if (field === "image_url" && !/^data:image\/[\w.+*-]{1,100}[;,]/i.test(text))
      throw refused(path, text, "a data URL of an image (data:image/…)");
    return;
  }
  if (scheme !== "http" && scheme !== "https") return;
  const url = text.length <= longestUrl && plainUrl.test(text) ? URL.parse(text) : null;
  if (url === null)
    throw refused(
      path,
      text,
      `an http or https URL of at most ${longestUrl} characters, without a user, spaces or backslashes`,
    );
  const allowed = new Set(rules.allowPrivate.map((host) => host.toLowerCase()));
  if (isPrivateHost(url) && !hasHost(allowed, url))
    throw refused(path, text, "the URL of a public host", "urls.allowPrivate");
}

function refused(path: Path, text: string, expected: string, setting?: string): ApiError {
  const param = formatPath(path);
  const hint = setting === undefined ? "" : ` The server's operator can allow it with ${setting}.`;
  return invalidRequest(
    param,
    `${param}: expected ${expected}, got ${describeValue(text)}.${hint}`,
    "url_not_allowed",
  );
}
