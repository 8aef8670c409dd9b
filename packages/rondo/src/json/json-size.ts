// Estimates the size of data as JSON without writing it: untrusted data may be too large or too deep for that.

/** The length of a value as JSON without escapes; `Infinity` if it exceeds `max`. */
export function jsonSize(value: unknown, max: number): number {
  const open: unknown[] = [value];
  let size = 0;
  while (open.length > 0) {
    const part = open.pop();
    if (typeof part === "string") size += part.length + 2;
    else if (typeof part !== "object" || part === null) size += String(part).length;
    else if (Array.isArray(part)) {
      size += part.length + 2;
      for (const item of part as unknown[]) open.push(item);
    } else
      for (const [key, item] of Object.entries(part)) {
        size += key.length + 4;
        open.push(item);
      }
    if (size > max) return Number.POSITIVE_INFINITY;
  }
  return size;
}
