// Where tools come from that are known only at run time, such as those of an MCP server.

import type { AnyTool } from "./tool.ts";

/** Gives tools when a run begins. */
export interface ToolSource {
  /** What warnings call it. Default: "a tool source". */
  readonly name?: string;
  /**
   * The tools as they are now. Asked before each run: cache what is costly. A source that rejects is left out of
   * the run, with a warning.
   */
  tools(signal?: AbortSignal): Promise<readonly AnyTool[]>;
  /** The same tool under a longer name, for where another tool has its name. Default: it is left out then. */
  prefixed?(tool: AnyTool): AnyTool;
}

export function isToolSource(value: unknown): value is ToolSource {
  return typeof (value as Partial<ToolSource> | null | undefined)?.tools === "function";
}
