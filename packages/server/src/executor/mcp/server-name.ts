// Makes a prefix for tool names from the label of a server.

/**
 * Namespaces that models invent, and that the library's `matchToolName` drops: with one of them as a server's name, its
 * tools could be taken for those of another server.
 */
const emptyNamespace = /^(?:functions?|tools?|default|default_api|api|mcp|server|local|namespace)$/i;

export function serverName(label: string): string {
  const name = label.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "mcp";
  return emptyNamespace.test(name) ? `${name}_tools` : name;
}
