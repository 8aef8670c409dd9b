// Reads a process to its end, for callers that want its output as a whole.

import type { Execution, Outcome } from "./sandbox.ts";

export interface FinishedExecution {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: Outcome;
}

/** The whole output of a process, as text. Invalid UTF-8 becomes U+FFFD. */
export async function readExecution(execution: Execution): Promise<FinishedExecution> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const text = { stdout: "", stderr: "" };
  for await (const { from, bytes } of execution) text[from] += decoders[from].decode(bytes, { stream: true });
  const outcome = await execution.outcome;
  return {
    stdout: text.stdout + decoders.stdout.decode(),
    stderr: text.stderr + decoders.stderr.decode(),
    outcome,
  };
}
