// A model server: whether it is one, which models it has, and what these can do.

import { commonProfile, listModels, openaiCompatible, pickProfile } from "rondo";
import { placeOf } from "../../config/discover.ts";
import { providerOptions } from "../../config/model-schema.ts";
import { modelApiKey } from "../../config/settings.ts";
import { type Asked, diagnose } from "./diagnose.ts";
import { type Access, label, type MadeModel, type Place } from "./places.ts";
import type { Printer } from "./printer.ts";
import { type Finding, type ModelReport, type ServerReport, works } from "./report.ts";
import { roundTrip } from "./round-trip.ts";

export interface CheckOptions {
  /** The limit of each step with a model. */
  readonly timeoutMs: number;
  /** The only model to try. Default: the first few. */
  readonly model: string | undefined;
  readonly maxModels: number;
  readonly signal: AbortSignal;
  readonly printer: Printer;
}

/** Lists are quick, whatever the model. */
export const maxListMs = 5000;
const nearbyMs = 1500;

/** Checks one place. Undefined for a usual port at which nothing listens. */
export async function checkModelServer(
  place: Place,
  options: CheckOptions,
): Promise<ServerReport | undefined> {
  const { access, source, isNamed } = place;
  const { printer, signal } = options;
  const url = label(access.url);
  const head = { type: "model" as const, url, source };
  const asked = askedOf(access, Math.min(maxListMs, options.timeoutMs));
  const wanted = place.model ?? options.model;
  printer.progress(`asking ${url} for its models`);

  const found = await list(access, asked.timeoutMs, signal).catch(async (error: unknown) => {
    signal.throwIfAborted();
    const finding = diagnose(error, asked);
    return isAtWrongPath(finding) ? withSuggestion(finding, access, signal) : finding;
  });
  if (!Array.isArray(found)) {
    if (!isNamed && found.code === "dead_port") return undefined;
    // Some servers cannot list their models, and answer all the same.
    const mayStillAnswer = wanted !== undefined && isAtWrongPath(found) && !found.advice?.includes(verified);
    // Another program at a usual port is nobody's fault.
    const finding: Finding = isNamed ? found : { ...found, status: "warning" };
    if (!mayStillAnswer) return told(printer, { ...head, ...finding, models: [], checked: [] });
    const unlisted: Finding = {
      ...found,
      status: "warning",
      message: `its models are not listed: ${found.message}`,
    };
    printer.server({ ...head, ...unlisted, models: [], checked: [] });
    return { ...head, ...unlisted, models: [], checked: [await checkModel(place, wanted, options)] };
  }

  const finding = findingOf(found, wanted, isNamed);
  const report = { ...head, ...finding, models: found };
  printer.server({ ...report, checked: [] });
  const checked: ModelReport[] = [];
  if (finding.status === "ok")
    for (const model of chosen(found, wanted, options.maxModels))
      checked.push(await checkModel(place, model, options));
  return { ...report, checked };
}

/** Checks a model that is no server's: made by the config's own code. */
export async function checkMadeModel(
  { name, source, provider }: MadeModel,
  options: CheckOptions,
): Promise<ServerReport> {
  const url = provider.endpoint;
  const report: ServerReport = {
    type: "model",
    url,
    source,
    status: "ok",
    code: "ok",
    message: "a provider made in code",
    models: [name],
    checked: [],
  };
  options.printer.server(report);
  const profile = {
    name: provider.profile.name,
    reason: "The provider brings it.",
    toolDialects: provider.profile.toolDialects,
  };
  const checked = await steps(name, profile, options, (hooks) =>
    roundTrip(provider, { ...hooks, asked: askedOf({ url }, options.timeoutMs) }),
  );
  return { ...report, checked: [checked] };
}

async function checkModel({ access }: Place, model: string, options: CheckOptions): Promise<ModelReport> {
  const settings = {
    ...providerOptions(access, model),
    // A fault is to be seen, but a model that is loading is none.
    retry: { attempts: 1, loadingMs: options.timeoutMs },
  };
  const provider = openaiCompatible(settings);
  const { profile, reason } = pickProfile({
    baseURL: access.url,
    model,
    ...(access.server === undefined ? {} : { server: access.server }),
    ...(access.profile === undefined ? {} : { override: access.profile }),
  });
  const { toolDialects } = commonProfile;
  const knowsAll = toolDialects.every((dialect) => profile.toolDialects.includes(dialect));
  return steps(
    model,
    { name: profile.name, reason: withoutSecrets(reason, access.url), toolDialects: profile.toolDialects },
    options,
    (hooks) =>
      roundTrip(provider, {
        ...hooks,
        asked: askedOf(access, options.timeoutMs),
        withAllDialects: knowsAll
          ? undefined
          : () => openaiCompatible({ ...settings, profile: { ...access.profile, toolDialects } }),
      }),
  );
}

type Hooks = Pick<Parameters<typeof roundTrip>[1], "signal" | "onStart" | "onEnd">;

/** Takes the steps with a model, and tells each. */
export async function steps(
  model: string,
  profile: ModelReport["profile"],
  { printer, signal, timeoutMs }: CheckOptions,
  take: (hooks: Hooks) => Promise<ModelReport["steps"]>,
): Promise<ModelReport> {
  printer.model(model, profile);
  const taken = await take({
    signal,
    onStart: (step) => printer.progress(`${model}: ${doing[step]}`, timeoutMs),
    onEnd: (report) => printer.step(report),
  });
  return { model, ...(profile === undefined ? {} : { profile }), works: works(taken), steps: taken };
}

const doing = {
  answer: "asking for an answer (a model that is not loaded yet takes its time)",
  stream: "asking for a stream",
  tool: "asking for a tool call",
} as const;

function list(access: Access, timeoutMs: number, signal: AbortSignal): Promise<string[]> {
  const { url, apiKey, headers } = access;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  return listModels({ baseURL: url, apiKey, headers, signal: limited });
}

function askedOf({ url, apiKey }: Access, timeoutMs: number): Asked {
  return {
    url,
    hasKey: apiKey !== undefined,
    keyAdvice: `Set ${modelApiKey.env} for --model-url and RONDO_MODEL_URL, or apiKey beside the url in the config.`,
    timeoutMs,
    startAdvice:
      "Start the model server there (Ollama: `ollama serve`), or name one that runs with --model-url URL.",
  };
}

function isAtWrongPath({ code }: Finding): boolean {
  return ["wrong_url", "web_page", "not_a_model_api", "refused", "redirect"].includes(code);
}

const verified = "That is an OpenAI-compatible API";

/** Looks whether the API is nearby, where people forget to point to. */
async function withSuggestion(finding: Finding, access: Access, signal: AbortSignal): Promise<Finding> {
  const { origin, pathname } = new URL(access.url);
  const paths = [`${pathname.replace(/\/+$/, "")}/v1`, "/v1", "/api/v1"];
  for (const path of new Set(paths)) {
    const url = `${origin}${path}`;
    if (placeOf(url) === placeOf(access.url)) continue;
    const models = await list({ ...access, url }, nearbyMs, signal).catch(() => undefined);
    signal.throwIfAborted();
    if (models !== undefined) return { ...finding, advice: `Use ${url} instead. ${verified}.` };
  }
  return finding;
}

function findingOf(models: readonly string[], wanted: string | undefined, isNamed: boolean): Finding {
  const names = models.length > 8 ? `${models.slice(0, 8).join(", ")}, …` : models.join(", ");
  if (models.length === 0)
    return {
      status: isNamed ? "failed" : "warning",
      code: "no_models",
      message: "it works, but has no models",
      advice: "Get one (Ollama: `ollama pull qwen3:8b`), or load one in the server.",
    };
  if (wanted !== undefined && nameIn(models, wanted) === undefined)
    return {
      status: isNamed ? "failed" : "skipped",
      code: "model_missing",
      message: `it has no model ${wanted}, only ${names}`,
      advice: `Choose one of these, or get it (Ollama: \`ollama pull ${wanted}\`).`,
    };
  return { status: "ok", code: "ok", message: `${count(models.length)}: ${names}` };
}

function chosen(models: readonly string[], wanted: string | undefined, maxModels: number): string[] {
  if (wanted !== undefined) return [nameIn(models, wanted) ?? wanted];
  // These do not chat.
  const chatting = models.filter((name) => !/embed|rerank|whisper/i.test(name));
  return (chatting.length > 0 ? chatting : models).slice(0, maxModels);
}

/** Ollama lists `qwen3:latest`, and people say `qwen3`. */
function nameIn(models: readonly string[], wanted: string): string | undefined {
  return models.find((name) => name === wanted || name === `${wanted}:latest`);
}

function told(printer: Printer, report: ServerReport): ServerReport {
  printer.server(report);
  return report;
}

function withoutSecrets(text: string, url: string): string {
  return text.replaceAll(url, label(url));
}

function count(models: number): string {
  return models === 1 ? "1 model" : `${models} models`;
}
