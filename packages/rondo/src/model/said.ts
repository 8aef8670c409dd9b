// What a model server says when something is wrong: found wherever servers put it, and short enough to quote.

import { isPlainObject } from "../error/check.ts";

const maxLength = 300;
/** White space at its start may be long. */
const maxLookedAt = 10_000;
/** How deep a message may lie in an error. */
const maxDepth = 8;

/** The start of a text, on one line. */
export function excerpt(text: string): string {
  const line = text.slice(0, maxLookedAt).replace(/\s+/g, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** The message in an error's JSON: `error.message`, `error`, `message` or `detail`; else the JSON itself. */
export function saidIn(body: unknown): string {
  const said = messageIn(body, maxDepth) ?? jsonOf(body);
  return excerpt(said).replace(/\.$/, "");
}

/** What the body of a failed answer says. Pages for people say nothing that helps here. */
export function saidInText(text: string): string {
  if (/^\s*</.test(text)) return "a web page";
  try {
    return saidIn(JSON.parse(text));
  } catch {
    return excerpt(text).replace(/\.$/, "");
  }
}

/** Whether a chunk's field `error` reports one; many servers send the field with nothing in it. */
export function isErrorReport(error: unknown): boolean {
  if (typeof error === "string") return error !== "";
  return isPlainObject(error) && Object.keys(error).length > 0;
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body) ?? "";
  } catch {
    return "an error that is nested too deeply to be told";
  }
}

function messageIn(body: unknown, depth: number): string | undefined {
  if (typeof body === "string") return body;
  if (!isPlainObject(body) || depth === 0) return undefined;
  for (const key of ["error", "message", "detail"]) {
    const found = messageIn(body[key], depth - 1);
    if (found !== undefined && found !== "") return found;
  }
  return undefined;
}
