// Finds the tool that a model means: models change the case of names and put namespaces before them.

/**
 * Namespaces that stand for no tool set in particular: `functions.add`, `default_api:add`, `tools/add`. Any other
 * may name a server that is not offered, so `wiki.remove` is not the `remove` of another.
 */
const emptyNamespace =
  /^(?:functions?|tools?|default|default_api|api|mcp|server|local|namespace)(?:[.:/]|__)/i;

/**
 * The offered name that `name` stands for: the same, the same but for its case, or one of these after a namespace
 * without a meaning is taken off. Undefined when there is none, or more than one that fits equally well.
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
