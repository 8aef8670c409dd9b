// JSON for comparing values: the order of keys does not count.

import { isPlainObject } from "../error/check.ts";

export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
