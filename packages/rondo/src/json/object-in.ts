// Parses a JSON object from an untrusted source, often a model.

import { isPlainObject } from "../error/check.ts";
import { jsonFlaw } from "./json-flaw.ts";

/** The JSON object in a text; `undefined` if it is anything else, too deep, or has a number beyond a double. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) && jsonFlaw(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}
