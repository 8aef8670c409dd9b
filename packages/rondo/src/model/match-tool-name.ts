// Matches the names that models write to tools: they change the case and add namespaces.

/**
 * Generic namespaces: `functions.add`, `default_api:add`, `tools/add`. Any other may name a server that is not
 * offered, so `wiki.remove` is not the `remove` of another.
 */
const genericNamespace =
  /^(?:functions?|tools?|default|default_api|api|mcp|server|local|namespace)(?:[.:/]|__)/i;

/** Longer than any name with its namespaces. Longer ones are not searched, which would take time. */
const maxLength = 256;

/**
 * The offered name that `name` stands for: the same, the same in another case, or one of these after a generic
 * namespace is removed. Undefined when there is none, or when several match equally well.
 */
export function matchToolName(name: string, offered: readonly string[]): string | undefined {
  return toolNameMatcher(offered)(name);
}

/** `matchToolName` for many names: the offered ones are indexed once, when first needed. */
export function toolNameMatcher(offered: readonly string[]): (name: string) => string | undefined {
  let names: Set<string> | undefined;
  let byLowered: Map<string, string[]> | undefined;
  return (name) => {
    names ??= new Set(offered);
    if (names.has(name)) return name;
    const trimmed = name.trim();
    if (trimmed.length > maxLength) return undefined;
    byLowered ??= Map.groupBy(offered, (other) => other.toLowerCase());
    for (const candidate of [trimmed, ...namesWithin(trimmed)]) {
      const matches = byLowered.get(candidate.toLowerCase());
      if (!matches) continue;
      if (matches.includes(candidate)) return candidate;
      // If two tools differ only in case, a third spelling could mean either.
      return matches.length === 1 ? matches[0] : undefined;
    }
    return undefined;
  };
}

/** The name as tools are named (`a.b.c` is `a__b__c`), then without generic namespaces, or its own: `add.add`. */
function namesWithin(name: string): string[] {
  const names = [asToolName(name)];
  const half = name.slice(0, (name.length - 1) / 2);
  if (name === `${half}.${half}`) names.push(half);
  let rest = name;
  for (let found = genericNamespace.exec(rest); found; found = genericNamespace.exec(rest)) {
    rest = rest.slice(found[0].length);
    if (rest !== "") names.push(rest, asToolName(rest));
  }
  return names;
}

function asToolName(name: string): string {
  return name.replace(/[.:/]/g, "__");
}
