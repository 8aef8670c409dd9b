// A source of tools that are known only at run time, such as those of an MCP server.

import type { AnyTool } from "./tool.ts";

/** Provides tools when a run begins. */
export interface ToolSource {
  /** Its name in warnings. Default: "a tool source". */
  readonly name?: string;
  /**
   * The current tools. Called before each run: cache what is expensive. If it rejects, the run goes on without these
   * tools, with a warning.
   */
  tools(signal?: AbortSignal): Promise<readonly AnyTool[]>;
  /** The same tool under a longer name, in case another tool has its name. Default: it is left out then. */
  prefixed?(tool: AnyTool): AnyTool;
}

export function isToolSource(value: unknown): value is ToolSource {
  return typeof (value as Partial<ToolSource> | null | undefined)?.tools === "function";
}
