// Finds the message in the error reports of model servers, and makes it short enough to quote.

import { isPlainObject } from "../error/check.ts";
import { parseJson } from "./parse-json.ts";

const maxLength = 300;
/** How much of a text is searched for its first words: white space may come before them. */
const maxSearched = 10_000;
/** How deep a message may lie in an error. */
const maxDepth = 8;

/** The start of a text, on one line. */
export function excerpt(text: string, length = maxLength): string {
  const line = text.slice(0, maxSearched).replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

/** The message of an error report: `error.message`, `error`, `message` or `detail`; else the report as JSON. */
export function errorMessageOf(report: unknown, length = maxLength): string {
  const message = findMessage(report, maxDepth) ?? toJson(report);
  return excerpt(message, length).replace(/\.$/, "");
}

/** The message in the body of a failed reply. Web pages contain nothing that helps here. */
export function errorMessageInBody(body: string): string {
  return isWebPage(body) ? "a web page" : errorMessageOf(parseJson(body) ?? body);
}

export function isWebPage(body: string): boolean {
  return /^\s*</.test(body);
}

/** Whether a chunk's field `error` reports one; many servers send an empty field. */
export function isErrorReport(error: unknown): boolean {
  if (typeof error === "string") return error !== "";
  return isPlainObject(error) && Object.keys(error).length > 0;
}

function toJson(report: unknown): string {
  try {
    return JSON.stringify(report) ?? "";
  } catch {
    return "an error that is nested too deeply to be quoted";
  }
}

function findMessage(report: unknown, depth: number): string | undefined {
  if (typeof report === "string") return report;
  if (!isPlainObject(report) || depth === 0) return undefined;
  for (const key of ["error", "message", "detail"]) {
    const message = findMessage(report[key], depth - 1);
    if (message !== undefined && message !== "") return message;
  }
  return undefined;
}
