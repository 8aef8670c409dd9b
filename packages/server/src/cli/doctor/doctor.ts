// `rondo doctor`: what is installed and reachable, what works, and what to do where something does not.

import { Command, InvalidArgumentError } from "commander";
import { ConfigError } from "../../config/config-error.ts";
import type { UsualPorts } from "../../config/discover.ts";
import { candidates } from "../../config/discover.ts";
import { type CliIo, Exit, exitCodes } from "../cli-io.ts";
import { checkConfig, checkNode, checkPackages, checkStore } from "./install.ts";
import { type CheckOptions, checkMadeModel, checkModelServer } from "./model-server.ts";
import { label, madeModels, placesOf } from "./places.ts";
import { LinePrinter, type Printer, serverTitles, silentPrinter } from "./printer.ts";
import type { DoctorReport, Finding, ServerReport } from "./report.ts";
import { checkRondoServer, type RondoPlace } from "./rondo-server.ts";
import { examineStore } from "./store-file.ts";

interface Flags {
  readonly modelUrl?: string;
  readonly model?: string;
  readonly server?: string;
  readonly config?: string;
  readonly timeout: number;
  readonly maxModels: number;
  readonly json?: boolean;
  readonly store?: string | true;
}

/** Where to look on this machine. Tests have other ports. */
export interface UsualPlaces {
  /** Default: those of Ollama, LM Studio, llama.cpp and vLLM. */
  readonly modelPorts?: UsualPorts;
  /** Default: 4500. */
  readonly rondoPort?: number;
}

export function doctorCommand(io: CliIo, places: UsualPlaces = {}): Command {
  return new Command("doctor")
    .description(
      "Check what is installed, which model servers can be reached, and whether their models answer, stream and call tools.",
    )
    .option("--model-url <url>", "Check only this model server (the key: RONDO_MODEL_API_KEY).")
    .option("--model <name>", "Check only this model.")
    .option(
      "--server <url>",
      "Check only this Rondo server (RONDO_SERVER; the key: RONDO_API_KEY; with --model-url: both).",
    )
    .option(
      "--config <file>",
      "The config file; else rondo.config.ts or rondo.yaml of this folder, if there.",
    )
    .option("--timeout <seconds>", "How long each step with a model may take.", amount, 120)
    .option("--max-models <number>", "How many models of each server to check.", wholeNumber, 3)
    .option(
      "--store [file]",
      "Check only the store, thoroughly: this file, else that of the config. Changes nothing.",
    )
    .option("--json", "Print what was found as one JSON document.")
    .addHelpText(
      "after",
      `
Examples:
  rondo doctor                                          everything that can be found
  rondo doctor --model-url http://localhost:8000/v1     one model server
  rondo doctor --model qwen3:8b --timeout 600           one model that loads slowly
  rondo doctor --server http://localhost:4500           a Rondo server, through its API
  rondo doctor --store                                  the file of the store, page by page
  rondo doctor --json | jq .ok                          for scripts

The exit code is 0 if at least one model works end to end, else 1. With --store: 0 if the store is whole.`,
    )
    .action((flags: Flags) => doctor(io, flags, places));
}

async function doctor(io: CliIo, flags: Flags, places: UsualPlaces): Promise<void> {
  const stop = new AbortController();
  const release = io.onStop(() => {
    if (stop.signal.aborted) io.leave(exitCodes.interrupted);
    stop.abort(new Exit(exitCodes.interrupted));
  });
  const printer = flags.json ? silentPrinter : new LinePrinter(io);
  try {
    const { store, config: file } = flags;
    const report =
      store === undefined
        ? await examine(io, flags, places, printer, stop.signal)
        : await examineStore(io, { named: store, file }, printer);
    if (flags.json) io.write(`${JSON.stringify(report, null, 2)}\n`);
    if (!report.ok) throw new Exit(exitCodes.failure);
  } finally {
    printer.clear();
    release();
  }
}

async function examine(
  { env, cwd }: CliIo,
  flags: Flags,
  places: UsualPlaces,
  printer: Printer,
  signal: AbortSignal,
): Promise<DoctorReport> {
  checkUrl("--server", flags.server);
  const { check, config } = await checkConfig({
    cwd,
    env,
    file: flags.config,
    flags: { modelUrl: flags.modelUrl },
  });
  const installed = [checkNode(), checkPackages(), check, checkStore(config, cwd)];
  printer.title("Installed");
  for (const found of installed) printer.install(found);

  const options: CheckOptions = {
    timeoutMs: flags.timeout * 1000,
    model: flags.model,
    maxModels: flags.maxModels,
    signal,
    printer,
  };
  const servers: (ServerReport | undefined)[] = [];
  const candidateOptions = {
    env,
    ...(places.modelPorts === undefined ? {} : { ports: places.modelPorts }),
  };
  if (flags.server === undefined || flags.modelUrl !== undefined) {
    printer.title(serverTitles.model);
    for (const place of placesOf({ config, modelUrl: flags.modelUrl, ...candidateOptions }))
      servers.push(await checkModelServer(place, options));
    if (flags.modelUrl === undefined)
      for (const made of madeModels(config)) servers.push(await checkMadeModel(made, options));
    if (servers.every((server) => server === undefined))
      printer.note(
        `None. Looked at ${candidates(candidateOptions)
          .map(({ url }) => label(url))
          .join(", ")}.`,
      );
  }
  if (flags.modelUrl === undefined || flags.server !== undefined) {
    const place = rondoPlace(env, flags.server, places.rondoPort);
    servers.push(await checkRondoServer(place, options));
  }
  const found = servers.filter((server) => server !== undefined);
  const result = summary(found);
  printer.result(result);
  return { ok: result.status === "ok", installed, servers: found, result };
}

function rondoPlace(env: CliIo["env"], typed: string | undefined, port = 4500): RondoPlace {
  const variable = env["RONDO_SERVER"]?.trim() || undefined;
  checkUrl("RONDO_SERVER", variable);
  const apiKey = env["RONDO_API_KEY"]?.trim() || undefined;
  if (typed !== undefined) return { url: typed, source: "--server", isNamed: true, apiKey };
  if (variable !== undefined) return { url: variable, source: "RONDO_SERVER", isNamed: true, apiKey };
  return { url: `http://127.0.0.1:${port}`, source: "the usual place of Rondo", isNamed: false, apiKey };
}

function summary(servers: readonly ServerReport[]): Finding {
  const working = servers.flatMap(({ url, checked }) =>
    checked.filter(({ works }) => works).map(({ model }) => `${model} at ${url}`),
  );
  if (working.length > 0)
    return { status: "ok", code: "ok", message: `Works end to end: ${working.join(", ")}.` };
  const wasAsked = servers.some(({ checked }) => checked.length > 0);
  const hasAdvice = wasAsked || servers.some(({ status }) => status === "failed");
  return {
    status: "failed",
    code: wasAsked ? "no_working_model" : "no_model",
    message: wasAsked ? "No model works end to end." : "No model could be asked.",
    advice: hasAdvice
      ? "Do what stands below the first ✗, and run rondo doctor again."
      : "Start a model server and get a model (Ollama: `ollama serve`, then `ollama pull qwen3:8b`), or name one with --model-url URL. Without any, `rondo serve --demo` shows how all of it works.",
  };
}

function checkUrl(source: string, url: string | undefined): void {
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? "")) return;
  const expected = "expected an http or https URL, such as http://localhost:4500";
  throw new ConfigError([{ key: "server", source, message: `${expected}, got ${JSON.stringify(url)}.` }]);
}

function amount(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 86_400))
    throw new InvalidArgumentError("Expected a number of seconds above 0.");
  return value;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!(Number.isInteger(value) && value >= 1))
    throw new InvalidArgumentError("Expected a whole number from 1.");
  return value;
}
