// The id of a request: the client's own if it is valid, so that both logs can be matched.

import { newId } from "../protocol/ids.ts";

const valid = /^[\x21-\x7e]{1,128}$/;

/** The id that the client sent, or a new one. */
export function requestId(sent?: string | string[]): string {
  return typeof sent === "string" && valid.test(sent) ? sent : newId("req");
}
