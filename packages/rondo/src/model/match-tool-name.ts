// Finds the tool that a model means: models change the case of names and put namespaces before them.

/**
 * Namespaces that stand for no tool set in particular: `functions.add`, `default_api:add`, `tools/add`. Any other
 * may name a server that is not offered, so `wiki.remove` is not the `remove` of another.
 */
const emptyNamespace =
  /^(?:functions?|tools?|default|default_api|api|mcp|server|local|namespace)(?:[.:/]|__)/i;

/** Longer than any name with its namespaces. What is longer is not taken apart, for that takes time. */
const maxLength = 256;

/**
 * The offered name that `name` stands for: the same, the same but for its case, or one of these after a namespace
 * without a meaning is taken off. Undefined when there is none, or more than one that fits equally well.
 */
export function matchToolName(name: string, offered: readonly string[]): string | undefined {
  return toolNameMatcher(offered)(name);
}

/** `matchToolName` for many names: what is known of the offered ones is worked out once, when it is first needed. */
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
      // Of two tools whose names differ only in case, a third spelling could mean either.
      return matches.length === 1 ? matches[0] : undefined;
    }
    return undefined;
  };
}

/** The name as tools are named (`a.b.c` is `a__b__c`), then without the namespaces that mean nothing. */
function namesWithin(name: string): string[] {
  const names = [asToolName(name)];
  let rest = name;
  for (let found = emptyNamespace.exec(rest); found; found = emptyNamespace.exec(rest)) {
    rest = rest.slice(found[0].length);
    if (rest !== "") names.push(rest, asToolName(rest));
  }
  return names;
}

function asToolName(name: string): string {
  return name.replace(/[.:/]/g, "__");
}
