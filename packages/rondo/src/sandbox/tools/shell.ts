// A tool with which a model runs commands in a container.

import { checkName, checkOptions } from "../../error/check.ts";
import { tool } from "../../tool/define.ts";
import type { Tool } from "../../tool/tool.ts";
import { plainText } from "../plain-text.ts";
import { readExecution } from "../read-execution.ts";
import type { Container, Outcome } from "../sandbox.ts";

export interface ShellOptions {
  /** Where the commands run. Whoever opened it closes it. */
  readonly container: Container;
  /** The name that the model sees. Default: `shell`. */
  readonly name?: string;
}

/** What a model gives. */
export interface ShellInput {
  /** Run one after the other. */
  readonly commands: readonly string[];
  /** For each command. At most the container's limit, which is the default. */
  readonly timeout_ms?: number;
  /** Characters of the output of each command that the model wants. */
  readonly max_output_length?: number;
}

/** How one command ended. */
export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: Outcome;
}

const maxCommands = 20;
const spareMs = 5000;

/** A command for `Container.exec()`: bash where the container has it, else sh. */
function shellCommand(line: string): readonly [string, ...string[]] {
  return ["sh", "-c", 'command -v bash > /dev/null && exec bash -c "$1"; exec sh -c "$1"', "sh", line];
}

/** Runs one command, as text without control characters. */
export async function runShellCommand(
  container: Container,
  line: string,
  { timeoutMs, maxOutputBytes, signal }: ShellCommandOptions = {},
): Promise<ShellResult> {
  const { limits } = container;
  const execution = await container.exec(
    {
      command: shellCommand(line),
      timeoutMs: Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs),
      maxOutputBytes: Math.min(maxOutputBytes ?? limits.outputBytes, limits.outputBytes),
    },
    signal,
  );
  const { stdout, stderr, outcome } = await readExecution(execution);
  return { stdout: plainText(stdout), stderr: plainText(stderr), outcome };
}

export interface ShellCommandOptions {
  /** Default and maximum: that of the container's limits. */
  readonly timeoutMs?: number;
  /** Default and maximum: that of the container's limits. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
}

/** A tool that runs commands of the shell in a container, for `query()`, `Client` and agents. */
export function shell(options: ShellOptions): Tool<ShellInput, readonly ShellResult[]> {
  checkOptions("options", options, ["container", "name"]);
  const { container } = options;
  return tool(
    {
      name: checkName("options.name", options.name ?? "shell"),
      description:
        "Run shell commands, one after the other, in the working folder /mnt/data. Each starts anew: no variables or background processes are kept, files are. Returns stdout, stderr and the outcome of each. There is no network.",
      input: {
        type: "object",
        properties: {
          commands: { type: "array", items: { type: "string" }, minItems: 1, maxItems: maxCommands },
          timeout_ms: { type: "integer", minimum: 1, description: "For each command." },
          max_output_length: { type: "integer", minimum: 1, description: "Characters of output to return." },
        },
        required: ["commands"],
        additionalProperties: false,
      },
      lock: true,
      timeoutMs: container.limits.timeoutMs * maxCommands + spareMs,
      registry: false,
    },
    async (input: unknown, { signal }: { signal: AbortSignal }) => {
      const { commands, timeout_ms, max_output_length } = input as ShellInput;
      const results: ShellResult[] = [];
      for (const line of commands) {
        const timeout = timeout_ms === undefined ? {} : { timeoutMs: timeout_ms };
        const result = await runShellCommand(container, line, { ...timeout, signal });
        results.push(max_output_length === undefined ? result : shortened(result, max_output_length));
      }
      return results;
    },
  );
}

/** What was asked for is not a limit: the command runs to its end, and the middle of its output is left out. */
function shortened(result: ShellResult, maxLength: number): ShellResult {
  return {
    ...result,
    stdout: middleOut(result.stdout, maxLength),
    stderr: middleOut(result.stderr, maxLength),
  };
}

function middleOut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  const omitted = text.length - 2 * half;
  return `${text.slice(0, half)}\n… (${omitted} characters left out) …\n${text.slice(text.length - half)}`;
}
