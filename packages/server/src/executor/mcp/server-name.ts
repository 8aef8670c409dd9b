// Labels are the client's or the operator's own words; names have to be ones that models can read in tools.

export function serverName(label: string): string {
  return label.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "mcp";
}
