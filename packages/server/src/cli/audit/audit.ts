// `rondo audit`: shows the audit log of a server, filtered, and what began without an end.

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { safeJson } from "../../audit/fact.ts";
import { type AuditLine, LogReader } from "../../audit/read-log.ts";
import { loadConfig } from "../../config/load.ts";
import { type CliIo, UsageError } from "../cli-io.ts";
import { configFlag } from "../flag-values.ts";
import { interruptible } from "../interruptible.ts";
import { createStyle, hasColours } from "../terminal/style.ts";
import { type FilterFlags, lineFilter, moment } from "./filter.ts";
import { followFile } from "./follow-file.ts";
import { showLine } from "./show-line.ts";
import { Unfinished } from "./unfinished.ts";

interface Flags extends FilterFlags {
  readonly unfinished?: true;
  readonly follow?: true;
  readonly json?: true;
  readonly config?: string;
}

const examples = `
Examples:
  rondo audit audit.jsonl --owner ada --since 2h
  rondo audit audit.jsonl --action call --response resp_9f3a1b2c4d5e
  rondo audit audit.jsonl.1 audit.jsonl --unfinished
  zcat audit.jsonl.2.gz | rondo audit - --action deletion --json`;

export function auditCommand(io: CliIo): Command {
  return new Command("audit")
    .description("Show who did what: the lines of an audit log.")
    .argument(
      "[files...]",
      "The log, or its parts, the oldest first; - is standard input. (default: audit of the config)",
    )
    .option("--owner <owner>", "Only what this owner did; of key:NAME the name is enough.")
    .option("--action <action>", "Only this action, such as call.ended, or all of one kind, such as call.")
    .option("--response <id>", "Only what belongs to this response; the beginning of its id is enough.")
    .option("--since <time>", "Only from this time on: 2026-11-17T09:30 (UTC), or 30m, 2h, 7d ago.", moment)
    .option("--until <time>", "Only before this time.", moment)
    .option("--unfinished", "Only what began and has no end: it goes on, or its process died.")
    .option("--follow", "Go on with the lines that come, until Ctrl-C.")
    .option("--json", "Write the lines as they are.")
    .option(...configFlag)
    .addHelpText("after", examples)
    .action((files: string[], flags: Flags) => audit(io, files, flags));
}

async function audit(io: CliIo, given: readonly string[], flags: Flags): Promise<void> {
  if (flags.follow && (flags.unfinished || given.length > 1 || given[0] === "-"))
    throw new UsageError("--follow takes one file, and goes without --unfinished.");
  const files = given.length > 0 ? given : [await configuredFile(io, flags.config)];
  const reader = new LogReader();
  const isWanted = lineFilter(flags);
  const unfinished = flags.unfinished && new Unfinished();
  const style = createStyle(hasColours(io.output.isTTY === true, io.env));
  const show = (line: AuditLine) => io.write(`${flags.json ? safeJson(line) : showLine(line, style)}\n`);
  const take = (lines: Iterable<AuditLine>) => {
    for (const line of lines)
      if (unfinished) unfinished.add(line, isWanted);
      else if (isWanted(line)) show(line);
  };
  await interruptible(io, async (signal) => {
    for (const file of files) {
      for await (const piece of contentOf(io, file, flags.follow === true, signal)) {
        take(reader.read(piece));
        if (signal.aborted) break;
      }
      take(reader.end());
    }
  });
  if (unfinished) for (const line of unfinished.lines()) show(line);
  for (const note of notesOn(reader, unfinished)) io.writeError(`rondo: ${note}\n`);
}

function contentOf(
  io: CliIo,
  file: string,
  follows: boolean,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  if (file === "-") return bytesOf(io.input);
  const path = resolve(io.cwd, file);
  return follows ? followFile(path, signal) : bytesOf(createReadStream(path, { signal }));
}

/** Pieces may be text: standard input may have an encoding. */
async function* bytesOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of input) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}

async function configuredFile(io: CliIo, config: string | undefined): Promise<string> {
  const { audit: path } = await loadConfig({ file: config, env: io.env, cwd: io.cwd });
  if (path !== undefined && path !== "stdout") return path;
  throw new UsageError(
    path === "stdout"
      ? "The server writes its audit log to standard output. Name the file that keeps it, or - for standard input."
      : "The config has no audit log. Name a file, or set audit.",
  );
}

function notesOn(reader: LogReader, unfinished: Unfinished | undefined): string[] {
  const { broken, firstBroken, missing } = reader;
  const notes: string[] = [];
  if (firstBroken)
    notes.push(
      `${counted(broken, "line")} cannot be read; the first is line ${firstBroken.line}: ${firstBroken.why}.`,
    );
  if (missing > 0) notes.push(`${counted(missing, "line")} missing between those that are there.`);
  if (unfinished && unfinished.leftOut > 0)
    notes.push(
      `${counted(unfinished.leftOut, "line")} left out: there is more without an end than can be kept.`,
    );
  return notes;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
