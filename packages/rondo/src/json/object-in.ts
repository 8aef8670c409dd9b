// JSON that was written by someone else, often by a model.

import { isPlainObject } from "../error/check.ts";

/** The object that a text is the JSON of; `undefined` if it is something else, or no JSON. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
