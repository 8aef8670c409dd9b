// Runs the commands of one shell call, one after the other, within the time of the call.

import type { Outcome } from "rondo/sandbox";
import type { ToolResult } from "../executor.ts";
import type { ContainerUse, SandboxTools } from "./containers.ts";
import type { CommandOutput } from "./shell-items.ts";

export interface ShellInput {
  readonly commands: readonly string[];
  readonly timeout_ms?: number | null;
  readonly max_output_length?: number | null;
}

export interface RunCommandsParts {
  readonly use: ContainerUse;
  readonly tools: SandboxTools;
  /** What the model is told first. */
  readonly note: string | undefined;
  readonly signal: AbortSignal;
  /** What the model reads of an output. */
  readonly describe: (output: CommandOutput) => string;
}

/** With bash where there is one. The command is an argument, so that nothing of it is quoted. */
const shell = 'if command -v bash >/dev/null 2>&1; then exec bash -c "$0"; else exec sh -c "$0"; fi';

/** Never throws for what the commands do. A command that reaches a limit is the last. */
export async function runCommands(
  { commands, timeout_ms, max_output_length }: ShellInput,
  { use, tools, note, signal, describe }: RunCommandsParts,
): Promise<Omit<ToolResult, "callId">> {
  const { container } = use;
  const deadlineMs = performance.now() + Math.min(timeout_ms ?? Infinity, container.limits.timeoutMs);
  const maxChars = max_output_length ?? Infinity;
  const output: CommandOutput[] = [];
  for (const command of commands) {
    const timeoutMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
    const execution = await container.exec({ command: ["sh", "-c", shell, command], timeoutMs }, signal);
    const { stdout, stderr, outcome } = await tools.readExecution(execution);
    signal.throwIfAborted();
    if (outcome.type === "lost") throw new Error(`The container is gone: ${outcome.message}`);
    const plain = [tools.plainText(stdout), tools.plainText(stderr)] as const;
    const cut = shortened(plain, maxChars);
    const message = "message" in outcome ? outcome.message : undefined;
    output.push({
      stdout: cut[0],
      stderr: message === undefined ? cut[1] : `${cut[1]}${cut[1] === "" ? "" : "\n"}${message}`,
      outcome: toApi(outcome),
    });
    if (message !== undefined) break;
  }
  await use.notePaths().catch(() => {}); // only citations need them
  const left = commands.length - output.length;
  const texts = [
    ...(note === undefined ? [] : [note]),
    ...output.map(describe),
    ...(left > 0 ? [`(${left} more commands were not run.)`] : []),
  ];
  return { output: texts.join("\n\n"), item: { output, container_id: use.known.id } };
}

/** Both texts together in so many characters. */
function shortened([stdout, stderr]: readonly [string, string], maxChars: number): readonly [string, string] {
  const first = cutAt(stdout, maxChars);
  return [first, cutAt(stderr, Math.max(0, maxChars - first.length))];
}

function cutAt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).toWellFormed()}… (${text.length - maxChars} more characters)`;
}

const signals: Readonly<Record<string, number>> = {
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

/** The API knows exits and timeouts. Other limits are exits as of a killed process, with a message. */
function toApi(outcome: Outcome): CommandOutput["outcome"] {
  switch (outcome.type) {
    case "exit":
      return { type: "exit", exit_code: outcome.code };
    case "signal":
      return { type: "exit", exit_code: 128 + (signals[outcome.signal] ?? 9) };
    case "timeout":
    case "cpu":
      return { type: "timeout" };
    default:
      return { type: "exit", exit_code: 137 };
  }
}
