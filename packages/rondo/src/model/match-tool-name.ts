// Finds the tool that a model means: models change the case of names and put namespaces before them.

/** What stands between a namespace and a name: `functions.add`, `default_api:add`, `tools/add`, `math__add`. */
const separators = /[.:/]|__/g;

/**
 * The offered name that `name` stands for: the same, the same but for its case, or one of these after a namespace
 * is taken off. Undefined when there is none, or more than one that fits equally well.
 */
export function matchToolName(name: string, offered: readonly string[]): string | undefined {
  if (offered.includes(name)) return name;
  const trimmed = name.trim();
  for (const candidate of [trimmed, ...namesWithin(trimmed)]) {
    if (offered.includes(candidate)) return candidate;
    const lowered = candidate.toLowerCase();
    const matches = offered.filter((other) => other.toLowerCase() === lowered);
    // Of two tools whose names differ only in case, a third spelling could mean either.
    if (matches.length > 0) return matches.length === 1 ? matches[0] : undefined;
  }
  return undefined;
}

/** `a.b.c` as tools are named (`a__b__c`), then without its namespaces, the longest first: `b.c`, `c`. */
function namesWithin(name: string): string[] {
  const names = name.includes(".") ? [name.replaceAll(".", "__")] : [];
  for (const match of name.matchAll(separators)) {
    const rest = name.slice(match.index + match[0].length);
    if (rest !== "") names.push(rest);
  }
  return names;
}
