// Runs a tool once, for a person.

import { type AnyTool, InvalidInputError, type Tracer, Turn } from "rondo";
import { resultText } from "rondo/loop";
import { hideAddress } from "../../protocol/addresses.ts";
import { invalidRequest } from "../../protocol/api-error.ts";
import { redact } from "../log.ts";

/** For a tool that has no limit: nobody waits longer for a page. */
const maxCallMs = 600_000;

export interface RunToolOptions {
  readonly signal: AbortSignal;
  readonly tracer: Tracer | undefined;
  /** Whether a failure must not say where the tool is. */
  readonly hidesAddresses: boolean;
}

/** Runs a turn. A failure is a result; only input that does not fit the tool, and an abort, are thrown. */
export async function runTool(
  tool: AnyTool,
  input: object,
  { signal, tracer, hidesAddresses }: RunToolOptions,
): Promise<{ readonly output: string; readonly isError: boolean }> {
  // As if a model had made the input: it cannot set fixed arguments.
  const turn = new Turn(tool, input, { source: "model" });
  turn.timeoutMs = Math.min(turn.timeoutMs, maxCallMs);
  const options = { signal, ...(tracer && { tracer }) };
  try {
    if (tool.isStreaming) for await (const _ of turn.yielding(options));
    else await turn.returning(options);
    // MCP results say themselves whether they are errors.
    const isError = (Object(turn.output) as { isError?: unknown }).isError === true;
    return { output: resultText(turn.output), isError };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InvalidInputError && error.toolName === tool.name)
      throw invalidRequest("arguments", error.message, "invalid_arguments");
    const text = redact(error instanceof Error ? error.message : resultText(error));
    return { output: hidesAddresses ? hideAddress(text) : text, isError: true };
  }
}
