// The tool that a call belongs to, from the moment it is read. Names that models see are not enough: the same name
// may mean another tool when a server is missing.

import { createHash } from "node:crypto";

export interface ToolIdentity {
  /** What runs it: `client`, `local`, `config` (an MCP server of the config), `url:…` or `executor:…`. */
  readonly host: string;
  /** The label of its server. */
  readonly label: string;
  /** Its name on that server. */
  readonly name: string;
}

/** A key for maps. */
export function identityKey({ host, label, name }: ToolIdentity): string {
  return JSON.stringify([host, label, name]);
}

/** Whether it is a tool of an MCP server. */
export function isOfServer({ host }: ToolIdentity): boolean {
  return host === "config" || host.startsWith("url:");
}

/** The host of an MCP server by URL. Hashed, because the URL may contain secrets. */
export function urlHost({ origin, pathname, search }: URL): string {
  const digest = createHash("sha256").update(`${origin}${pathname}${search}`).digest("base64url");
  return `url:${digest.slice(0, 22)}`;
}
