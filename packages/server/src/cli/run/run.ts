// `rondo run`: runs the agent, prompt or function of a file, and shows what happens.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { setLogger } from "rondo";
import type { ModelFlags, OpenOptions } from "../chat/open-conversation.ts";
import { type CliIo, Exit, exitCodes, UsageError } from "../cli-io.ts";
import { httpUrl } from "../flag-values.ts";
import { interruptible } from "../interruptible.ts";
import { quietConsole } from "../quiet-console.ts";
import { jsonOutput } from "./json-output.ts";
import { loadTarget, type Target } from "./load-target.ts";
import { fillIn } from "./prompt.ts";
import { isAgent, runAgent } from "./run-agent.ts";
import type { Ending, RunOutput } from "./run-event.ts";
import { runPrompt } from "./run-prompt.ts";
import { textOutput } from "./text-output.ts";
import { showValues } from "./value-reader.ts";

interface RunFlags extends ModelFlags {
  readonly input?: string;
  readonly inputFile?: string;
  readonly json?: true;
}

const examples = `
Examples:
  rondo run agent.ts                             The turns that the file's agent has queued.
  rondo run agent.ts --input "What is 25 + 17?"  A question to that agent.
  rondo run summary.md --input-file report.txt   A prompt, with a text to work on.
  git diff | rondo run review.md --input-file -  The same, from a pipe.
  rondo run agent.ts --json | jq .type           The events, one JSON object per line.

FILE is a module whose default export is an agent, a function (input) => … or a prompt, or a text
(.md, .txt) that is a prompt. Ctrl-C stops the run, and leaves at once when pressed again.`;

/** The command. `discover` is how model servers are found; tests bring their own. */
export function runCommand(io: CliIo, discover?: OpenOptions["discover"]): Command {
  return new Command("run")
    .description("Run an agent, a function or a prompt from a file.")
    .argument("<file>", "A module (.ts, .js, .mjs) or a prompt (.md, .txt).")
    .option(
      "--input <text>",
      "The question to the agent, the argument of the function, or the input of the prompt.",
    )
    .option("--input-file <file>", "The same, from a file; - is standard input.")
    .option("--model <name>", "The model for a prompt. Default: the file's, else the first that is found.")
    .option("--model-url <url>", "The model server for a prompt. (RONDO_MODEL_URL)", httpUrl)
    .option("--server <url>", "A Rondo server to ask the prompt instead of a model. (RONDO_SERVER)", httpUrl)
    .option("--api-key <key>", "The key for either. (RONDO_MODEL_API_KEY, RONDO_API_KEY)")
    .option("--json", "Write one JSON object per event and line.")
    .addHelpText("after", examples)
    .action(async (file: string, flags: RunFlags, command: Command) => {
      if (flags.server !== undefined && flags.modelUrl !== undefined)
        command.error("error: --server and --model-url cannot both be given: each names who to ask.");
      if (flags.input !== undefined && flags.inputFile !== undefined)
        command.error("error: --input and --input-file cannot both be given.");
      try {
        await run(io, file, flags, discover);
      } catch (error) {
        if (error instanceof UsageError) command.error(`rondo: ${error.message}`);
        throw error;
      }
    });
}

async function run(
  io: CliIo,
  file: string,
  { json, input: given, inputFile, ...wishes }: RunFlags,
  discover: OpenOptions["discover"],
): Promise<void> {
  const restore = json ? quietConsole(io) : () => {};
  let output: RunOutput | undefined;
  try {
    const { reason } = await interruptible(io, async (signal) => {
      const input = inputFile === undefined ? given : await readInput(io, inputFile, signal);
      const target = await loadTarget(file, io.cwd);
      const view = json ? jsonOutput(io) : textOutput(io);
      output = view;
      setLogger({ warn: (message) => view.event({ type: "notice", text: message }) });
      view.started(target.kind, file);
      const ending = await runTarget(target, { io, input, wishes, discover, view, signal });
      // An interrupted run is reported below, even if it did not notice.
      if (!signal.aborted) view.finished(ending);
      return ending;
    });
    // A truncated result is a failure, so that scripts notice.
    if (reason !== "completed") throw new Exit(exitCodes.failure);
  } catch (error) {
    if (error instanceof Exit && error.exitCode === exitCodes.interrupted)
      output?.finished({ reason: "interrupted", usage: undefined });
    else if (!(error instanceof Exit)) output?.failed(error);
    throw error;
  } finally {
    setLogger();
    restore();
  }
}

interface RunContext {
  readonly io: CliIo;
  readonly input: string | undefined;
  readonly wishes: ModelFlags;
  readonly discover: OpenOptions["discover"];
  readonly view: RunOutput;
  readonly signal: AbortSignal;
}

async function runTarget(target: Target, context: RunContext): Promise<Ending> {
  const { io, input, wishes, discover, view, signal } = context;
  const emit = view.event;
  if (target.kind === "prompt") {
    const prompt = { ...target.prompt, prompt: fillIn(target.prompt.prompt, input) };
    return runPrompt({ prompt, wishes, env: io.env, signal, emit, ...(discover && { discover }) });
  }
  const named = (["model", "modelUrl", "server"] as const).find((wish) => wishes[wish] !== undefined);
  if (named !== undefined)
    throw new UsageError(
      `--${named === "modelUrl" ? "model-url" : named} is for prompts: an agent or a function has the models that its file gives it.`,
    );
  if (target.kind === "agent") return runAgent(target.agent, input, emit, signal);
  const given = await target.run(input, { signal });
  if (signal.aborted) return { reason: "interrupted", usage: undefined };
  if (isAgent(given)) return runAgent(given, undefined, emit, signal);
  return showValues(given, emit, signal);
}

async function readInput(io: CliIo, file: string, signal: AbortSignal): Promise<string> {
  if (file === "-") return (await text(addAbortSignal(signal, io.input))).trimEnd();
  return readFile(resolve(io.cwd, file), "utf8").catch((error: unknown) => {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is none" : String(error);
    throw new UsageError(`The input file ${file} could not be read: ${why}.`);
  });
}
