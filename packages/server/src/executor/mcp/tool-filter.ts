// The filters of an MCP server's definition: `allowed_tools` and `require_approval`.

import type { JsonValue } from "rondo";
import type { McpToolDefinition } from "rondo/mcp";

export type ToolTest = (tool: McpToolDefinition) => boolean;

/** From a list of names, or `{ tool_names, read_only }`; undefined without a filter. */
export function toolFilter(given: JsonValue | undefined): ToolTest | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  if (Array.isArray(given)) return ({ name }) => given.includes(name);
  const { tool_names: names, read_only: readOnly } = given;
  const hasNames = Array.isArray(names);
  if (!hasNames && typeof readOnly !== "boolean") return undefined;
  return ({ name, annotations }) =>
    (!hasNames || names.includes(name)) &&
    (typeof readOnly !== "boolean" || (annotations?.["readOnlyHint"] === true) === readOnly);
}

/**
 * Which calls need approval: `"always"`, `"never"`, or a filter for each. A tool that both or neither of the filters
 * match needs approval; if only `always` is given, other tools do not.
 */
export function approvalTest(given: JsonValue | undefined): ToolTest | undefined {
  if (given === "never") return () => false;
  if (given === undefined || given === null) return undefined;
  if (typeof given !== "object" || Array.isArray(given)) return () => true;
  const always = toolFilter(given["always"]);
  const never = toolFilter(given["never"]);
  if (!always && !never) return () => true;
  return (tool) => {
    if (always?.(tool)) return true;
    return never ? !never(tool) : false;
  };
}
