// What is shown of a call, for all kinds of them: functions, MCP, code, and those of executors.

import type { Item } from "../api/response.ts";

export interface CallDescription {
  readonly title: string;
  /** The MCP server that has the tool; undefined for the server's own tools and others. */
  readonly server: string | undefined;
  readonly inputLabel: string;
  readonly input: string;
  readonly output: string | undefined;
  readonly error: string | undefined;
  /** Whether the client has to give the result. */
  readonly isOpen: boolean;
}

const clientCalls = new Set(["function_call", "custom_tool_call"]);

/** `text` is what came of its input so far. */
export function describeCall(item: Item, text: string): CallDescription {
  const { type, name, server_label: label } = item;
  const isCode = type === "code_interpreter_call";
  const isKnown = isCode || type === "mcp_call" || clientCalls.has(type);
  const error = errorOf(item);
  return {
    title: isCode ? "code interpreter" : (name ?? type.replace(/_call$/, "").replaceAll("_", " ")),
    server: label === "local" ? undefined : label,
    inputLabel: isCode ? "Code" : isKnown ? "Arguments" : "Item",
    input: isCode ? text : isKnown ? pretty(text) : JSON.stringify(item, null, 2),
    output: error === undefined && isKnown ? outputOf(item) : undefined,
    error,
    isOpen: clientCalls.has(type),
  };
}

/** JSON with line breaks, where it is complete. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function outputOf({ output, outputs }: Item): string | undefined {
  if (typeof output === "string") return pretty(output);
  if (!Array.isArray(outputs)) return undefined;
  return (outputs as readonly { type?: unknown; logs?: unknown }[])
    .map(({ type, logs }) => (typeof logs === "string" ? logs : `(${String(type)})`))
    .join("\n");
}

/** A failed call of an MCP server has its reason in parts, failed code in its output. */
function errorOf({ error, status, output }: Item): string | undefined {
  if (typeof error === "string") return error;
  if (typeof error === "object" && error !== null) {
    const { content, message } = error as { content?: unknown; message?: unknown };
    if (Array.isArray(content))
      return (content as readonly ({ text?: unknown } | null)[])
        .flatMap((part) => (typeof part?.text === "string" ? [part.text] : []))
        .join("\n");
    return typeof message === "string" ? message : JSON.stringify(error);
  }
  return status === "failed" && typeof output === "string" ? output : undefined;
}
