// `rondo doctor`: checks what is installed and reachable, whether it works, and says what to do where it does not.

import { Command, InvalidArgumentError } from "commander";
import { diagnose } from "../../check/diagnose.ts";
import { type Finding, failed, ok } from "../../check/finding.ts";
import { resolveConfig } from "../../config/check-config.ts";
import { candidates, type UsualPorts } from "../../config/discover.ts";
import { labelOf } from "../../config/endpoint.ts";
import { modelApiKey } from "../../config/settings.ts";
import { isPostgresUrl, storeLabel } from "../../store/store-label.ts";
import { type CliIo, Exit, exitCodes } from "../cli-io.ts";
import { configFlag, wholeNumber } from "../flag-values.ts";
import { advice, type CheckOptions, checkServer, sectionTitles } from "./check-server.ts";
import { checkConfig, checkNode, checkPackages, checkStore, checkStoreThoroughly } from "./install.ts";
import { learnModel } from "./learn.ts";
import { Printer } from "./printer.ts";
import type { DoctorReport, InstallCheck, ServerReport } from "./report.ts";
import { checkSandbox } from "./sandbox.ts";
import { modelServers, rondoServer, type ServerToCheck } from "./servers.ts";

interface Flags {
  readonly modelUrl?: string;
  readonly model?: string;
  readonly server?: string;
  readonly config?: string;
  readonly timeout: number;
  readonly maxModels: number;
  readonly json?: boolean;
  readonly store?: string | true;
  readonly learn?: string;
}

/** Ports of this machine to check. Tests have others. */
export interface UsualPlaces {
  /** Default: those of Ollama, LM Studio, llama.cpp and vLLM. */
  readonly modelPorts?: UsualPorts;
  /** Default: 4500. */
  readonly rondoPort?: number;
}

export function doctorCommand(io: CliIo, places: UsualPlaces = {}): Command {
  return new Command("doctor")
    .description(
      "Check the installation, which model servers are reachable, and whether their models answer, stream and call tools.",
    )
    .option("--model-url <url>", "Check only this model server (the key: RONDO_MODEL_API_KEY).")
    .option("--model <name>", "Check only this model.")
    .option(
      "--server <url>",
      "Check only this Rondo server (RONDO_SERVER; the key: RONDO_API_KEY; with --model-url: both).",
    )
    .option(...configFlag)
    .option("--timeout <seconds>", "How long each step with a model may take.", seconds, 120)
    .option("--max-models <number>", "How many models of each server to check.", wholeNumber(1), 3)
    .option(
      "--store [store]",
      "Check only the store, thoroughly: this file or postgres:// URL, or that of the config. Changes nothing.",
    )
    .option(
      "--learn <url>",
      "Find out what a model of this server can do, and print a profile to paste (the model: --model).",
    )
    .option("--json", "Print the findings as one JSON document.")
    .addHelpText(
      "after",
      `
Examples:
  rondo doctor                                          everything on this machine
  rondo doctor --model-url http://localhost:8000/v1     one model server
  rondo doctor --model qwen3:8b --timeout 600           one model that loads slowly
  rondo doctor --server http://localhost:4500           a Rondo server, through its API
  rondo doctor --store                                  every page of the store's file, or the database
  rondo doctor --learn http://localhost:8080/v1         a profile for one model
  rondo doctor --json | jq .ok                          for scripts

The exit code is 0 if at least one model works end to end, else 1. With --store: 0 if the store is intact.`,
    )
    .action((flags: Flags) => doctor(io, flags, places));
}

async function doctor(io: CliIo, flags: Flags, places: UsualPlaces): Promise<void> {
  const stop = new AbortController();
  const release = io.onStop(() => {
    if (stop.signal.aborted) io.leave(exitCodes.interrupted);
    stop.abort(new Exit(exitCodes.interrupted));
  });
  const printer = new Printer(io, flags.json === true);
  try {
    if (flags.learn !== undefined) return await learn(io, flags.learn, flags, printer, stop.signal);
    const report =
      flags.store === undefined
        ? await checkAll(io, flags, places, printer, stop.signal)
        : await checkOnlyStore(io, flags.store, flags.config, printer);
    printer.result(report.result);
    if (flags.json) io.write(`${JSON.stringify(report, null, 2)}\n`);
    if (!report.ok) throw new Exit(exitCodes.failure);
  } finally {
    printer.clear();
    release();
  }
}

/** Prints what a model can do, and its profile: JSON, which is YAML and TypeScript too. */
async function learn(
  io: CliIo,
  url: string,
  { model, timeout, json }: Flags,
  printer: Printer,
  signal: AbortSignal,
): Promise<void> {
  const apiKey = io.env[modelApiKey.env]?.trim();
  const timeoutMs = timeout * 1000;
  const asked = { url: labelOf(url), hasKey: Boolean(apiKey), timeoutMs, ...advice.model };
  printer.title(`What ${labelOf(url)} can do`);
  const learned = await learnModel({
    url,
    model,
    timeoutMs,
    signal,
    ...(apiKey && { apiKey }),
    onProgress: (text) => printer.progress(text, timeoutMs),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    printer.result(diagnose(error, asked));
    throw new Exit(exitCodes.failure);
  });
  const server =
    learned.server === undefined ? "an unknown server" : `${learned.server}, by ${learned.evidence}`;
  printer.note(`${learned.model} on ${server}`, 1, "bold");
  for (const { ability, works, note } of learned.table)
    printer.finding(
      { status: works ? "ok" : "warning", code: "ability", message: note },
      1,
      `${ability}: ${note}`,
    );
  printer.note(
    "\nBeside the url of the endpoint or model in the config, or as an option of openaiCompatible():",
    0,
  );
  printer.note(`profile: ${JSON.stringify(learned.profile)}`, 0, "bold");
  if (json) io.write(`${JSON.stringify(learned, null, 2)}\n`);
}

async function checkAll(
  { env, cwd }: CliIo,
  flags: Flags,
  { modelPorts, rondoPort }: UsualPlaces,
  printer: Printer,
  signal: AbortSignal,
): Promise<DoctorReport> {
  const { modelUrl, config: file, server: rondoUrl, model, maxModels, timeout } = flags;
  const rondo =
    modelUrl === undefined || rondoUrl !== undefined ? [rondoServer(env, rondoUrl, rondoPort)] : [];
  const { check, config } = await checkConfig({ cwd, env, file, flags: { modelUrl } });
  const installed = [
    checkNode(),
    checkPackages(),
    check,
    await checkStore(config, cwd),
    await checkSandbox(config),
  ];
  printer.title("Installed");
  for (const found of installed) printer.finding(found);

  const options: CheckOptions = { timeoutMs: timeout * 1000, model, maxModels, signal, printer };
  const servers: ServerReport[] = [];
  const addReport = async (server: ServerToCheck) => {
    const report = await checkServer(server, options);
    if (report) servers.push(report);
  };
  if (rondoUrl === undefined || modelUrl !== undefined) {
    printer.title(sectionTitles.model);
    const usual = { env, ...(modelPorts && { ports: modelPorts }) };
    for (const server of modelServers({ config, modelUrl, ...usual })) await addReport(server);
    const urls = candidates(usual).map(({ url }) => labelOf(url));
    if (servers.length === 0) printer.note(`None. Looked at ${urls.join(", ")}.`, 1);
  }
  for (const server of rondo) await addReport(server);
  const result = summary(servers);
  return { ok: result.status === "ok", installed, servers, result };
}

function summary(servers: readonly ServerReport[]): Finding {
  const working = servers.flatMap(({ url, checked }) =>
    checked.filter(({ works }) => works).map(({ model }) => `${model} at ${url}`),
  );
  if (working.length > 0) return ok(`Works end to end: ${working.join(", ")}.`);
  const wasAsked = servers.some(({ checked }) => checked.length > 0);
  const hasAdvice = wasAsked || servers.some(({ status }) => status === "failed");
  return failed(
    wasAsked ? "no_working_model" : "no_model",
    wasAsked ? "No model works end to end." : "No model could be asked.",
    hasAdvice
      ? "Follow the advice below the first ✗, and run rondo doctor again."
      : "Start a model server and get a model (Ollama: `ollama serve`, then `ollama pull qwen3:8b`), or name one with --model-url URL. Without any, `rondo serve --demo` shows how it all works.",
  );
}

/** `named` is the file, as typed; `true` for the one of the config. */
async function checkOnlyStore(
  { env, cwd }: CliIo,
  named: string | true,
  file: string | undefined,
  printer: Printer,
): Promise<DoctorReport> {
  let url: string | undefined =
    named === true ? undefined : isPostgresUrl(named) ? named : `sqlite:${named.replace(/^sqlite:/, "")}`;
  const { check: configCheck, config } = await checkConfig({ cwd, env, file });
  if (named === true) {
    if (config === undefined) printer.finding(configCheck);
    if (typeof config?.store === "string") url = config.store;
  }
  printer.title(`Store ${url === undefined ? "" : storeLabel(url)}`);
  const postgres = config?.postgres ?? resolveConfig({}).postgres;
  const installed = url === undefined ? [] : await checkStoreThoroughly(url, cwd, postgres);
  for (const check of installed) printer.finding(check);
  const result = storeSummary(installed);
  return { ok: result.status === "ok", installed, servers: [], result };
}

function storeSummary(checks: readonly InstallCheck[]): Finding {
  const bad = checks.find(({ status }) => status === "failed");
  if (bad) return { status: "failed", code: bad.code, message: "The store is damaged or cannot be used." };
  if (checks.some(({ name }) => name === "connection")) return ok("The store can be used.");
  if (checks.length > 0) return ok("The store is intact.");
  return failed(
    "invalid_config",
    "Without a valid config that names a file, the store is unknown.",
    "Correct the config, or name the file with --store FILE.",
  );
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 86_400) return value;
  throw new InvalidArgumentError("Expected a number of seconds above 0.");
}
