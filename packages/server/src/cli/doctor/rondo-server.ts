// A Rondo server: whether it is one and is well, and whether its models answer through the Responses API.

import { listModels } from "rondo";
import { type Asked, diagnose } from "./diagnose.ts";
import { type CheckOptions, maxListMs, steps } from "./model-server.ts";
import { label } from "./places.ts";
import type { Finding, ModelReport, ServerReport } from "./report.ts";
import { responsesSteps } from "./responses-steps.ts";
import { takeSteps } from "./round-trip.ts";

export interface RondoPlace {
  readonly url: string;
  readonly source: string;
  /** Whether someone has named it; else it is the usual port. */
  readonly isNamed: boolean;
  readonly apiKey: string | undefined;
}

/** Checks a Rondo server. Undefined for the usual port, if there is none. */
export async function checkRondoServer(
  { url, source, isNamed, apiKey }: RondoPlace,
  options: CheckOptions,
): Promise<ServerReport | undefined> {
  const { printer, signal } = options;
  const base = `${label(url).replace(/\/v1$/, "")}/v1`;
  const head = { type: "rondo" as const, url: base, source };
  const timeoutMs = Math.min(maxListMs, options.timeoutMs);
  const asked: Asked = {
    url: base,
    hasKey: apiKey !== undefined,
    keyAdvice: "Set RONDO_API_KEY to a key of that server; `rondo key` makes one.",
    timeoutMs,
    startAdvice: "Start it with `rondo serve`, or name the one that runs with --server URL.",
  };
  printer.progress(`asking ${base} whether it is a Rondo server`);
  const limit = () => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const version = await versionOf(base, limit()).catch(() => undefined);
  signal.throwIfAborted();
  if (version === undefined && !isNamed) return undefined;

  const found = await listModels({ baseURL: base, apiKey, signal: limit() }).catch((error: unknown) => {
    signal.throwIfAborted();
    return diagnose(error, asked);
  });
  const finding = findingOf(found, version, base, options.model);
  const models = Array.isArray(found) ? found : [];
  const report = { ...head, ...finding, models };
  printer.server({ ...report, checked: [] });
  const checked: ModelReport[] = [];
  if (finding.status === "ok") {
    const chosen = options.model === undefined ? models.slice(0, options.maxModels) : [options.model];
    for (const model of chosen) {
      const conversation = responsesSteps({ base, apiKey, model });
      checked.push(
        await steps(model, undefined, options, (hooks) =>
          takeSteps(conversation, { ...hooks, asked: { ...asked, timeoutMs: options.timeoutMs } }),
        ),
      );
    }
  }
  return { ...report, checked };
}

/** The version of the Rondo server there; undefined if it is something else. */
async function versionOf(base: string, signal: AbortSignal): Promise<string | undefined> {
  const answer = await fetch(base.replace(/\/v1$/, "/openapi.json"), { signal, redirect: "manual" });
  if (!answer.ok) return undefined;
  const { info } = (await answer.json()) as { info?: { title?: unknown; version?: unknown } };
  return info?.title === "Rondo" ? String(info.version) : undefined;
}

function findingOf(
  found: string[] | Finding,
  version: string | undefined,
  base: string,
  wanted: string | undefined,
): Finding {
  if (!Array.isArray(found)) {
    if (version === undefined) return found;
    return { ...found, message: `Rondo ${version}, but ${found.message}` };
  }
  if (version === undefined)
    return {
      status: "failed",
      code: "not_rondo",
      message: `it lists models (${found.slice(0, 5).join(", ")}), but it is not a Rondo server`,
      advice: `If it is a model server, use --model-url ${base}.`,
    };
  if (found.length === 0)
    return {
      status: "failed",
      code: "no_models",
      message: `Rondo ${version} runs, but none of its model servers answers, or they have no models`,
      advice: "Its log names those that do not answer; start them, or check the endpoints of its config.",
    };
  if (wanted !== undefined && !found.some((name) => name === wanted || name === `${wanted}:latest`))
    return {
      status: "failed",
      code: "model_missing",
      message: `Rondo ${version} has no model ${wanted}, only ${found.slice(0, 8).join(", ")}`,
      advice: "Choose one of these, or add it to the server's config.",
    };
  return { status: "ok", code: "ok", message: `Rondo ${version} with ${found.slice(0, 8).join(", ")}` };
}
