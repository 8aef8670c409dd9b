// The headers that connect a request to its trace. They come from a tracer, and must not break the request.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkPlainObject } from "../error/check.ts";

export type TraceHeaders = Readonly<Record<string, string>>;

const maxHeaders = 16;
const maxValueLength = 8_192;
/** They frame a message or belong to its connection. */
const framing =
  /^(?:host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept.*|cookie2?|authorization|proxy-.*)$/;

/** The headers with their names in lower case. Throws for what cannot be sent. */
export function checkTraceHeaders(headers: unknown): TraceHeaders {
  const checked: Record<string, string> = {};
  const entries = Object.entries(checkPlainObject("headers()", headers));
  if (entries.length > maxHeaders) throw invalid(`at most ${maxHeaders} headers`, entries.length);
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    if (!/^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(name) || framing.test(name))
      throw invalid("the name of a header of traces, such as traceparent", given);
    if (typeof value !== "string" || value.length > maxValueLength || !/^[\x20-\x7e]*$/.test(value))
      throw invalid(`${name} as a line of ASCII of at most ${maxValueLength} characters`, value);
    checked[name] = value;
  }
  return checked;
}

function invalid(expected: string, received: unknown): InvalidArgumentError {
  return new InvalidArgumentError({ field: "headers()", expected, received });
}
