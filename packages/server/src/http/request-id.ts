// The id of a request: the client's own, if it sent a sane one, so that both logs tell the same story.

import { newId } from "../protocol/ids.ts";

const sane = /^[\x21-\x7e]{1,128}$/;

/** The id that the client has sent, or a new one. */
export function requestId(sent?: string | string[]): string {
  return typeof sent === "string" && sane.test(sent) ? sent : newId("req");
}
