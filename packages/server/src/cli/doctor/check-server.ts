// Checks a model server or a Rondo server: whether it is one, which models it has, and whether they work.

import { responsesModel } from "rondo";
import { type AskedServer, diagnose } from "../../check/diagnose.ts";
import { type Finding, failed, type ModelReport, ok } from "../../check/finding.ts";
import { checkModel, type ModelToCheck, type StepOptions } from "../../check/model-checks.ts";
import { madeModel, modelToCheck } from "../../check/open-model.ts";
import { chatModels } from "../../config/chat-models.ts";
import { labelOf } from "../../config/endpoint.ts";
import { findNearbyApi, isWrongPath as isWrongPathError, modelsAt } from "../../config/nearby-api.ts";
import { modelApiKey } from "../../config/settings.ts";
import type { Printer } from "./printer.ts";
import type { ServerReport } from "./report.ts";
import type { ServerToCheck } from "./servers.ts";

export interface CheckOptions {
  /** The limit of each step with a model. */
  readonly timeoutMs: number;
  /** The only model to check. Default: the first few. */
  readonly model: string | undefined;
  readonly maxModels: number;
  readonly signal: AbortSignal;
  readonly printer: Printer;
}

/** Lists are quick, whatever the model. */
const maxListMs = 5000;

export const sectionTitles = { model: "Model servers", rondo: "Rondo server" } as const;

interface Listed {
  readonly finding: Finding;
  readonly models: readonly string[];
  /** The models to check. */
  readonly chosen: readonly string[];
}

/** Checks one server. Undefined if it is at a usual port and missing. */
export async function checkServer(
  server: ServerToCheck,
  options: CheckOptions,
): Promise<ServerReport | undefined> {
  const { printer, signal, timeoutMs } = options;
  const { type, source, provider } = server;
  const url = provider?.endpoint ?? (type === "rondo" ? rondoBase : labelOf)(server.access.url);
  const asked: AskedServer = { url, hasKey: server.access.apiKey !== undefined, timeoutMs, ...advice[type] };
  printer.progress(`asking ${url} for its models`);
  const listed = provider
    ? { finding: ok("a provider made in code"), models: [server.model ?? ""], chosen: [server.model ?? ""] }
    : await listServer(server, { ...asked, timeoutMs: Math.min(maxListMs, timeoutMs) }, options);
  if (listed === undefined) return undefined;
  const { finding, models, chosen } = listed;
  printer.title(sectionTitles[type]);
  printer.finding(finding, 1, `${url} (${source}): ${finding.message}`);
  const checked: ModelReport[] = [];
  for (const name of chosen)
    checked.push(await checkShown(await openModel(server, name, options), { asked, signal }, printer));
  return { type, url, source, ...finding, models, checked };
}

/** Checks a model, and prints what happens. */
async function checkShown(model: ModelToCheck, options: StepOptions, printer: Printer): Promise<ModelReport> {
  const { name, profile } = model;
  const { timeoutMs } = options.asked;
  printer.note(name, 2, "bold");
  if (profile) printer.note(`profile ${profile.name}: ${profile.reason}`, 3);
  return checkModel(model, {
    ...options,
    onStep: ({ progress }) => printer.progress(`${name}: ${progress}`, timeoutMs),
    onReport: ({ title }, report) =>
      printer.finding(report, 3, `${title}: ${report.message} (${(report.ms / 1000).toFixed(1)} s)`),
  });
}

export const advice = {
  model: {
    keyAdvice: `Set ${modelApiKey.env} for --model-url and RONDO_MODEL_URL, or apiKey beside the url in the config.`,
    startAdvice:
      "Start the model server there (Ollama: `ollama serve`), or name one that runs with --model-url URL.",
  },
  rondo: {
    keyAdvice: "Set RONDO_API_KEY to a key of that server; `rondo key` makes one.",
    startAdvice: "Start it with `rondo serve`, or name the one that runs with --server URL.",
  },
} as const;

async function openModel(
  { type, access, provider }: ServerToCheck,
  name: string,
  { timeoutMs, signal }: Pick<CheckOptions, "timeoutMs" | "signal">,
): Promise<ModelToCheck> {
  if (type === "rondo") {
    const { url, apiKey } = access;
    const options = { model: name, retry: { attempts: 1 }, ...(apiKey !== undefined && { apiKey }) };
    return { name, provider: responsesModel(rondoBase(url), options) };
  }
  if (provider) return madeModel(provider, name);
  return modelToCheck(access, name, { timeoutMs, signal });
}

/** Asks a server for its models. Undefined if it is at a usual port and missing. */
async function listServer(
  server: ServerToCheck,
  asked: AskedServer,
  { model, maxModels, signal }: CheckOptions,
): Promise<Listed | undefined> {
  const { type, access, isNamed } = server;
  const requested = server.model ?? model;
  const version = type === "rondo" ? await rondoVersion(asked, signal) : undefined;
  if (type === "rondo" && version === undefined && !isNamed) return undefined;
  try {
    const url = type === "rondo" ? asked.url : access.url;
    const models = await modelsAt({ ...access, url }, limited(signal, asked.timeoutMs));
    const finding = modelsFinding(models, server, requested, version);
    return { finding, models, chosen: finding.status === "ok" ? choose(models, requested, maxModels) : [] };
  } catch (error) {
    signal.throwIfAborted();
    const finding = diagnose(error, asked);
    if (version !== undefined)
      return unlisted({ ...finding, message: `Rondo ${version}, but ${finding.message}` });
    if (!isNamed && finding.code === "dead_port") return undefined;
    const isWrongPath = type === "model" && isWrongPathError(error);
    const nearby = isWrongPath ? await findNearbyApi(access, signal) : undefined;
    // Some servers cannot list their models, and answer all the same.
    if (isWrongPath && !nearby && requested !== undefined) {
      const message = `its models are not listed: ${finding.message}`;
      return { finding: { ...finding, status: "warning", message }, models: [], chosen: [requested] };
    }
    const advice = nearby
      ? `Use ${labelOf(nearby)} instead. That is an OpenAI-compatible API.`
      : finding.advice;
    // Another program at a usual port is nobody's fault.
    const status = isNamed ? "failed" : "warning";
    return unlisted({ ...finding, status, ...(advice !== undefined && { advice }) });
  }
}

function unlisted(finding: Finding): Listed {
  return { finding, models: [], chosen: [] };
}

function limited(signal: AbortSignal, timeoutMs: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
}

function modelsFinding(
  models: readonly string[],
  { type, isNamed, access }: ServerToCheck,
  requested: string | undefined,
  version: string | undefined,
): Finding {
  const isRondo = type === "rondo";
  const names = shortList(models);
  const it = isRondo ? `Rondo ${version}` : "it";
  if (isRondo && version === undefined) {
    const advice = `If it is a model server, use --model-url ${rondoBase(access.url)}.`;
    return failed("not_rondo", `it lists models (${names}), but it is not a Rondo server`, advice);
  }
  if (models.length === 0 && isRondo)
    return failed(
      "no_models",
      `${it} runs, but none of its model servers answers, or they have no models`,
      "Its log names those that do not answer; start them, or check the endpoints of its config.",
    );
  if (models.length === 0)
    return { ...failed("no_models", "it works, but has no models"), ...(!isNamed && { status: "warning" }) };
  if (requested !== undefined && !findName(models, requested)) {
    const source = isRondo
      ? "add it to the server's config"
      : `get it (Ollama: \`ollama pull ${requested}\`)`;
    const message = `${it} has no model ${requested}, only ${names}`;
    const finding = failed("model_missing", message, `Choose one of these, or ${source}.`);
    return isNamed || isRondo ? finding : { ...finding, status: "skipped" };
  }
  if (requested === undefined && chatModels(models).length === 0) {
    const finding = failed("no_chat_models", `${it} has no model that can chat, by their names: ${names}`);
    return isNamed || isRondo ? finding : { ...finding, status: "warning" };
  }
  if (isRondo) return ok(`${it} with ${names}`);
  return ok(`${models.length === 1 ? "1 model" : `${models.length} models`}: ${names}`);
}

function choose(models: readonly string[], requested: string | undefined, maxModels: number): string[] {
  if (requested !== undefined) return [findName(models, requested) ?? requested];
  return chatModels(models).slice(0, maxModels);
}

/** Ollama lists `qwen3:latest`, and people say `qwen3`. */
function findName(models: readonly string[], requested: string): string | undefined {
  return models.find((name) => name === requested || name === `${requested}:latest`);
}

function shortList(models: readonly string[]): string {
  return models.length > 8 ? `${models.slice(0, 8).join(", ")}, …` : models.join(", ");
}

/** The base URL of a Rondo server's API, without secrets. */
function rondoBase(url: string): string {
  return `${labelOf(url).replace(/\/v1$/, "")}/v1`;
}

/** The version of the Rondo server there; undefined if it is another program, or none. */
async function rondoVersion(
  { url, timeoutMs }: AskedServer,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const init = { signal: limited(signal, timeoutMs), redirect: "manual" } as const;
    const reply = await fetch(url.replace(/\/v1$/, "/openapi.json"), init);
    const { info } = (await reply.json()) as { info?: { title?: unknown; version?: unknown } };
    return reply.ok && info?.title === "Rondo" ? String(info.version) : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
