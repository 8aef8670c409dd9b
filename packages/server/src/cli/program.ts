// The commands and their flags. A new command is one more line in `createProgram`.

import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";
import { packageVersion } from "../config/package-version.ts";
import { auditCommand } from "./audit/audit.ts";
import { chatCommand } from "./chat/chat.ts";
import { type CliIo, Exit, exitCodes, UsageError } from "./cli-io.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { initCommand } from "./init/init.ts";
import { keyCommand } from "./key.ts";
import { mcpCommand } from "./mcp/mcp.ts";
import { migrateCommand } from "./migrate.ts";
import { responsesCommand } from "./responses/responses.ts";
import { runCommand } from "./run/run.ts";
import { serveCommand } from "./serve.ts";
import { workerCommand } from "./worker.ts";

/** Runs one command. Prints what went wrong, and resolves with the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  try {
    await createProgram(io).parseAsync(args, { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    // Commander has printed what is wrong, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof Exit) return error.exitCode;
    io.writeError(`rondo: ${error instanceof Error ? error.message : String(error)}\n`);
    if (io.env["RONDO_DEBUG"] && error instanceof Error) io.writeError(`${error.stack}\n`);
    return error instanceof ConfigError || error instanceof UsageError ? exitCodes.usage : exitCodes.failure;
  }
}

const examples = `
Examples:
  rondo serve
  rondo chat "What is 25 + 17?"
  rondo doctor`;

/** The program with its commands, before it reads any arguments. */
export function createProgram(io: CliIo): Command {
  const program = new Command("rondo")
    .description("The Responses API in front of a model that you host yourself.")
    .version(packageVersion(), "-v, --version", "Show the version.")
    .helpOption("-h, --help", "Show this help.")
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.write(text), writeErr: (text) => io.writeError(text) })
    .showHelpAfterError("(rondo --help shows the commands, rondo COMMAND --help the flags.)")
    .addHelpText("after", examples);
  const commands = [
    initCommand,
    serveCommand,
    workerCommand,
    migrateCommand,
    chatCommand,
    runCommand,
    responsesCommand,
    mcpCommand,
    doctorCommand,
    keyCommand,
    auditCommand,
  ];
  for (const make of commands) program.addCommand(inherit(make(io), program));
  return program;
}

/** Gives a command, and those below it, the settings of the program. */
function inherit(command: Command, program: Command): Command {
  for (const below of command.commands) inherit(below, program);
  return command.copyInheritedSettings(program).helpOption("-h, --help", "Show this help.");
}
