// Metadata that clients attach to what they make: numbers and flags become texts, null is nothing.

export function toMetadata(
  given: Readonly<Record<string, string | number | boolean | null>> | null | undefined,
): Record<string, string> {
  const pairs = Object.entries(given ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(pairs.map(([key, value]) => [key, String(value)]));
}
