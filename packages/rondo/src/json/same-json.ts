// Compares JSON values without writing them out.

/** Whether two values have the same JSON: the same keys in the same order, and the same values. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [keysOf(one), keysOf(other)];
  return (
    keys.length === others.length &&
    keys.every(
      (key, index) =>
        key === others[index] && sameJson(one[key as keyof typeof one], other[key as keyof typeof other]),
    )
  );
}

/** JSON leaves out what is undefined. */
function keysOf(value: object): string[] {
  return Object.keys(value).filter((key) => value[key as keyof typeof value] !== undefined);
}
