// Tags: labels of objects by which global hooks choose what they follow.

import { checkIterable, checkString } from "../error/check.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";

/** An immutable set of tags. */
class Tags extends Set<string> {
  constructor(words: readonly string[]) {
    super();
    for (const word of words) super.add(word);
  }
  override add(): never {
    return refuse();
  }
  override delete(): never {
    return refuse();
  }
  override clear(): never {
    return refuse();
  }
}

function refuse(): never {
  throw new SafeExecutionError("Tags cannot be changed in place: assign a new list to `tags` instead.");
}

const noTags: ReadonlySet<string> = new Tags([]);

/** Checks a constructor's tags, and makes an immutable set of them. */
export function toTags(field: string, value: Iterable<string> | undefined): ReadonlySet<string> {
  if (value === undefined) return noTags;
  if (value instanceof Tags) return value;
  const words = checkIterable(field, value, "a list or set of strings");
  const tags = words.map((word, index) => checkString(`${field}[${index}]`, word));
  return tags.length === 0 ? noTags : new Tags(tags);
}

export function shareTag(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return !some.isDisjointFrom(others);
}
