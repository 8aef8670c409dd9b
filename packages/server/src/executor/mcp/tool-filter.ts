// Which tools of an MCP server are meant: `allowed_tools` and `require_approval`, as the API has them.

import type { JsonValue } from "rondo";
import type { McpToolDefinition } from "rondo/mcp";

export type ToolTest = (tool: McpToolDefinition) => boolean;

/** A list of names, or `{ tool_names, read_only }`; undefined where nothing is said. */
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
 * Which calls a person has to allow: `"always"`, `"never"`, or a filter for each of them. Where both or none of
 * the filters match, they are to be allowed; where only `always` is given, the others run at once.
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
