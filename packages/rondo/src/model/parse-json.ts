// JSON that may not be JSON.

/** The value of a text; undefined if it is not JSON, which has no such value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
