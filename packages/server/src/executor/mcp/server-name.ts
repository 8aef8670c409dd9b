// Labels are the client's or the operator's own words; names have to be ones that models can read in tools.

/**
 * Words that models put before any name, and that are taken off again (see the library's `matchToolName`): a tool of a
 * missing server of this name would be taken for one of another.
 */
const emptyNamespace = /^(?:functions?|tools?|default|default_api|api|mcp|server|local|namespace)$/i;

export function serverName(label: string): string {
  const name = label.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "mcp";
  return emptyNamespace.test(name) ? `${name}_tools` : name;
}
