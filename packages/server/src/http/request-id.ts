// The id of a request: the client's own, if it sent a sane one, so that both logs tell the same story.

import { randomUUID } from "node:crypto";

const sane = /^[\x21-\x7e]{1,128}$/;

/** The id that the client has sent, or a new one. */
export function requestId(sent?: string | string[]): string {
  if (typeof sent === "string" && sane.test(sent)) return sent;
  // Nothing is kept under it, so it need not be as hard to guess as other ids, which cost 20 times as much.
  return `req_${randomUUID().replaceAll("-", "")}`;
}
