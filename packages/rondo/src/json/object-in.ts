// JSON that was written by someone else, often by a model.

import { isPlainObject } from "../error/check.ts";
import { jsonFlaw } from "./json-flaw.ts";

/**
 * The object that a text is the JSON of; `undefined` if it is something else, no JSON, nested too deeply, or has a
 * number that would become Infinity.
 */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) && jsonFlaw(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}
