// Which tools the model may or must call: `tool_choice` and `allowed_tools`, normalised for the engine.

import type { JsonValue } from "rondo";
import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { openUnion } from "./open-union.ts";

export type ToolChoice = "auto" | "none" | "required" | { name: string; server_label?: string };

/** A tool by its name, its type or its server's label; by name and label; or all tools of a server. */
export type NamedTool = string | { name?: string; server_label: string };

const name = z.string().min(1);

const functionChoice = z.looseObject({ type: z.literal("function"), name });
const customChoice = z.looseObject({ type: z.literal("custom"), name });
const mcpChoice = z.looseObject({
  type: z.literal("mcp"),
  server_label: z.string().min(1).nullish(),
  name: name.nullish(),
});
const allowedTool = z.looseObject({
  type: z.string().nullish(),
  name: name.nullish(),
  server_label: name.nullish(),
});
const allowedChoice = z.looseObject({
  type: z.literal("allowed_tools"),
  mode: z.enum(["auto", "required"]).nullish(),
  tools: z.array(allowedTool),
});

const knownChoices = z.discriminatedUnion("type", [functionChoice, customChoice, mcpChoice, allowedChoice]);

export const toolChoice = z.union([z.enum(["auto", "none", "required"]), openUnion(knownChoices)]);

/** The top-level list: names, or tools by name. */
export const allowedTools = z.array(z.union([name, allowedTool]));

/**
 * What the model must do, and what it may call: `undefined` means all. A hosted tool is named by its type, and all tools
 * of an MCP server by its label.
 */
export function toChoice(
  choice: z.infer<typeof toolChoice> | null | undefined,
  list: z.infer<typeof allowedTools> | null | undefined,
): { tool_choice: ToolChoice; allowed_tools: NamedTool[] | undefined } {
  const listed = list?.map((entry) => (typeof entry === "string" ? entry : namedTool(entry)));
  if (choice === null || choice === undefined) return { tool_choice: "auto", allowed_tools: listed };
  if (typeof choice === "string") return { tool_choice: choice, allowed_tools: listed };
  if (choice.type !== "allowed_tools") {
    const named = namedTool(choice);
    return { tool_choice: asChoice(named), allowed_tools: listed };
  }
  const { mode, tools } = choice as z.infer<typeof allowedChoice>;
  const chosen = tools.map(namedTool);
  return {
    tool_choice: mode ?? "auto",
    allowed_tools: listed ? chosen.filter(isIn(listed)) : chosen,
  };
}

/** The choice as the response echoes it: as it came, but complete. */
export function echoChoice(given: JsonValue | undefined): JsonValue {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given ?? "auto";
  return given["type"] === "allowed_tools" ? { ...given, mode: given["mode"] ?? "auto" } : given;
}

function namedTool(entry: { type?: unknown; name?: unknown; server_label?: unknown }): NamedTool {
  const { type, name, server_label: label } = entry;
  if (type === "mcp" && typeof label === "string")
    return { ...(typeof name === "string" && { name }), server_label: label };
  return String(name ?? label ?? type);
}

/** A server is chosen by its label alone. */
function asChoice(named: NamedTool): ToolChoice {
  if (typeof named === "string") return { name: named };
  const { name: own, server_label } = named;
  return own === undefined ? { name: server_label } : { name: own, server_label };
}

/** Whether a list has a tool, or its whole server. */
function isIn(list: readonly NamedTool[]): (tool: NamedTool) => boolean {
  const keys = new Set(list.map((it) => JSON.stringify(it)));
  return (tool) => {
    if (typeof tool === "string") return keys.has(JSON.stringify(tool));
    const { name, server_label } = tool;
    return [tool, name, server_label, { server_label }].some((it) => keys.has(JSON.stringify(it)));
  };
}

/**
 * Throws a 400 when the model must call a tool that it does not have. `names` are all tools of the request and of the
 * server, as the model sees them, and the types and server labels of hosted ones.
 */
export function checkForcedTool(request: { tool_choice: ToolChoice }, names: readonly string[]): void {
  const { tool_choice: choice } = request;
  if (typeof choice === "object" && !names.includes(choice.name)) {
    const has =
      names.length === 0 ? "there are none" : `there are ${names.map((tool) => `"${tool}"`).join(", ")}`;
    throw invalidRequest(
      "tool_choice",
      `tool_choice: expected the name of a tool of this request, got "${choice.name}"; ${has}. Add it to tools, or choose another.`,
    );
  }
  if (choice === "required" && names.length === 0)
    throw invalidRequest(
      "tool_choice",
      'tool_choice: expected "auto" or "none" as there are no tools, got "required". Add a tool, or leave it out.',
    );
}
