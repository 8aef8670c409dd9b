// The result of a call, as the model reads it.

import type { ToolMessage } from "../model/message.ts";
import { isMcpResult, mcpText } from "./mcp-text.ts";

/** The result of a failed call. */
export interface ToolFailure {
  readonly error: string;
  readonly tool: string;
}

/** The answer to a call. */
export interface CallOutcome {
  readonly result: unknown;
  readonly isError: boolean;
}

export function failure(tool: string, error: string): CallOutcome {
  const result: ToolFailure = { error, tool };
  failures.add(result);
  return { result, isError: true };
}

/** The outcome of a tool that returned. An MCP result says itself whether it is an error. */
export function success(result: unknown): CallOutcome {
  return { result, isError: isMcpResult(result) && result.isError === true };
}

/** `describeFailure` words the result of a failed call. Default: its JSON. */
export function toToolMessage(
  { id, wireName }: { id: string; wireName: string },
  result: unknown,
  describeFailure?: (failure: ToolFailure) => string,
): ToolMessage {
  const content = describeFailure && isFailure(result) ? describeFailure(result) : resultText(result);
  return { role: "tool", tool_call_id: id, name: wireName, content };
}

const failures = new WeakSet<object>();

/** Whether a result is that of a call that failed or did not run, and not what a tool returned. */
function isFailure(result: unknown): result is ToolFailure {
  return typeof result === "object" && result !== null && failures.has(result);
}

/** A tool's result as models read it: strings as they are, MCP's blocks as text, everything else as JSON. */
export function resultText(result: unknown): string {
  if (typeof result === "string") return result;
  const text = isMcpResult(result) ? mcpText(result) : undefined;
  if (text !== undefined) return text;
  try {
    return JSON.stringify(result) ?? "null";
  } catch {
    return JSON.stringify(result, withoutLimits()); // better than no answer
  }
}

/** A replacer for values that JSON cannot express: a bigint becomes text, a cycle a note. */
function withoutLimits(): (this: unknown, key: string, value: unknown) => unknown {
  const parents: unknown[] = [];
  return function (_key, value) {
    if (typeof value === "bigint") return value.toString();
    if (typeof value !== "object" || value === null) return value;
    while (parents.length > 0 && parents.at(-1) !== this) parents.pop();
    if (parents.includes(value)) return "(itself)";
    parents.push(value);
    return value;
  };
}

/** The message of a thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : resultText(error);
}
