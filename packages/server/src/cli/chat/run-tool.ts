// Runs a tool here for a call that a server has passed on.

import { type AnyTool, Turn } from "rondo";

export interface ToolOutcome {
  /** For people. */
  readonly output: unknown;
  /** For the model: text as it is, everything else as JSON. */
  readonly text: string;
  readonly isError: boolean;
}

/** Runs it. A failure is an outcome too: the model is told, and nothing is thrown. */
export async function runTool(
  tool: AnyTool | undefined,
  { name, arguments: text }: { name: string; arguments: string },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  try {
    if (!tool) throw new Error(`There is no tool '${name}' here.`);
    const input = JSON.parse(text === "" ? "{}" : text) as Record<string, unknown>;
    const turn = new Turn(tool, input, { source: "model" });
    if (!tool.isStreaming) return outcome(await turn.returning({ signal }));
    for await (const _ of turn.yielding({ signal }));
    return outcome(turn.output);
  } catch (error) {
    const why = signal.aborted ? "cancelled" : error instanceof Error ? error.message : String(error);
    return { output: why, text: JSON.stringify({ error: why, tool: name }), isError: true };
  }
}

function outcome(output: unknown): ToolOutcome {
  const text = typeof output === "string" ? output : (JSON.stringify(output) ?? "null");
  return { output, text, isError: false };
}
