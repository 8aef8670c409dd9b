// Which tools a chat has: what the server offers, less what a person turned off, and more what they turned on.

import type { ToolInfo } from "../api/inspect-types.ts";
import type { Item } from "../api/response.ts";

type Choices = Readonly<Record<string, boolean>>;

export function keyOf({ kind, server_label: label, name }: ToolInfo): string {
  return `${kind === "sandbox" ? "sandbox" : (label ?? "local")}/${name}`;
}

export function isOn(tool: ToolInfo, choices: Choices): boolean {
  return choices[keyOf(tool)] ?? tool.is_offered;
}

/** The entries of a request's `tools`. A server of which nothing was chosen needs none. */
export function toolEntries(tools: readonly ToolInfo[], choices: Choices): Item[] {
  const entries: Item[] = [];
  const servers = Map.groupBy(
    tools.filter(({ kind }) => kind !== "sandbox"),
    ({ server_label: label }) => label ?? "local",
  );
  for (const [label, offered] of servers) {
    if (offered.every((tool) => isOn(tool, choices) === tool.is_offered)) continue;
    const names = offered.flatMap((tool) => (isOn(tool, choices) ? [tool.name] : []));
    entries.push({ type: "mcp", server_label: label, allowed_tools: names });
  }
  const inSandbox = tools.filter((tool) => tool.kind === "sandbox" && isOn(tool, choices));
  return [...entries, ...inSandbox.map(({ name }) => sandboxEntry(name))];
}

/** Tools of the sandbox are named by their type. */
function sandboxEntry(type: string): Item {
  return type === "shell"
    ? { type, environment: { type: "container_auto" } }
    : { type, container: { type: "auto" } };
}
