// `rondo migrate`: creates and changes the tables of the store apart from a start, and moves a SQLite file to PostgreSQL.

import { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { isPostgresUrl, isValidPostgresUrl, storeLabel } from "../store/store-label.ts";
import { type CliIo, Exit, exitCodes, UsageError } from "./cli-io.ts";
import { configFlag } from "./flag-values.ts";
import { interruptible } from "./interruptible.ts";
import { startSpinner } from "./terminal/spinner.ts";

interface Flags {
  readonly store?: string;
  readonly from?: string;
  readonly to?: string;
  readonly config?: string;
}

const examples = `
Examples:
  rondo migrate --store postgres://rondo@db.example.org/rondo
  rondo migrate --from sqlite:./rondo.db --to postgres://rondo@db.example.org/rondo

A move can be interrupted: the same command goes on where it was. It ends with a comparison of every row.`;

export function migrateCommand(io: CliIo): Command {
  return new Command("migrate")
    .description("Create or change the tables of a PostgreSQL store, or move a SQLite file to PostgreSQL.")
    .option("--store <store>", "The store whose tables are created or changed. (RONDO_STORE, or the config)")
    .option("--from <store>", "Move this store, sqlite:PATH; no server may have it open.")
    .option(
      "--to <store>",
      "To this one, postgres://USER@HOST/DATABASE, which must be empty. (default: the store)",
    )
    .option(...configFlag)
    .addHelpText("after", examples)
    .action((flags: Flags) => (flags.from === undefined ? migrate(io, flags) : move(io, flags, flags.from)));
}

async function migrate(io: CliIo, flags: Flags): Promise<void> {
  if (flags.to !== undefined)
    throw new UsageError(
      "--to names where a store is moved to. Name the one to move with --from sqlite:PATH.",
    );
  const { url, schema } = await target(io, flags, flags.store);
  const { migratePostgres } = await import("../store/migrate-store.ts");
  const { before, after } = await migratePostgres(url, { schema });
  const what =
    before === after ? "were there already" : before === 0 ? "were created" : `had version ${before}`;
  io.write(`The tables of ${storeLabel(url)} have version ${after}; they ${what}.\n`);
}

async function move(io: CliIo, flags: Flags, from: string): Promise<void> {
  const path = /^sqlite:(.+)$/s.exec(from)?.[1];
  if (path === undefined)
    throw new UsageError(`--from must be sqlite: and the path of a file, got ${storeLabel(from)}.`);
  const { url: to, schema } = await target(io, flags, flags.to ?? flags.store);
  const { moveToPostgres } = await import("../store/migrate-store.ts");
  const progress = progressLines(io);
  try {
    const counts = await interruptible(io, (signal) =>
      moveToPostgres({ from: path, to, schema, cwd: io.cwd, signal, onProgress: progress.show }),
    );
    progress.clear();
    const rows = counts.map(
      ({ table, rows: count, sha256 }) => `  ${table.padEnd(20)}${String(count).padStart(10)}  ${sha256}\n`,
    );
    io.write(
      `Moved ${from} to ${storeLabel(to)}. Both have the same rows (count, and SHA-256 of the content):\n\n${rows.join("")}\nStart servers with --store ${storeLabel(to)}, and keep the file until you are content.\n`,
    );
  } catch (error) {
    progress.clear();
    if (error instanceof Exit && error.exitCode === exitCodes.interrupted)
      io.writeError(
        "rondo: The move was interrupted. The same command goes on where it was; the file is unchanged.\n",
      );
    throw error;
  }
}

/** The store of the flag or of the config, and the schema of its tables. */
async function target(io: CliIo, { config: file }: Flags, typed: string | undefined) {
  const config = await loadConfig({ file, env: io.env, cwd: io.cwd });
  const url = typed ?? config.store;
  if (!isPostgresUrl(url))
    throw new UsageError(
      `Expected a PostgreSQL store, got ${storeLabel(url)}. Name one with --store postgres://USER@HOST/DATABASE; the tables of a SQLite file are changed by each start.`,
    );
  if (!isValidPostgresUrl(url))
    throw new UsageError(
      "The URL of the PostgreSQL store cannot be read. Special characters of its password have to be percent-encoded: @ is %40, / is %2F, % is %25.",
    );
  return { url, schema: config.postgres.schema };
}

/** One line that changes on a terminal; elsewhere one line for each table and phase. */
function progressLines(io: CliIo) {
  let stop = () => {};
  let last = "";
  const clear = () => {
    stop();
    stop = () => {};
  };
  const show = (progress: { phase: "copy" | "compare"; table: string; rows: number; total: number }) => {
    const { phase, table, rows, total } = progress;
    const text = `${phase === "copy" ? "Copying" : "Comparing"} ${table}: ${rows} of ${total}`;
    clear();
    if (io.isErrorTerminal) stop = startSpinner({ write: (it) => io.writeError(it), text, delayMs: 0 });
    else if (rows >= total && last !== text) io.writeError(`${text}\n`);
    last = text;
  };
  return { show, clear };
}
