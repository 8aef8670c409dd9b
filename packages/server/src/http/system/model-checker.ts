// The checks of `rondo doctor`, for the models of this server. They cost a model server some work, so that each has one
// check at a time.

import type { AskedServer } from "../../check/diagnose.ts";
import type { StepReport } from "../../check/finding.ts";
import { checkModel } from "../../check/model-checks.ts";
import { madeModel, modelToCheck } from "../../check/open-model.ts";
import type { ModelServerView, ServedModel } from "../../config/models.ts";
import { hideAddress } from "../../protocol/addresses.ts";
import { ApiError, notFound } from "../../protocol/api-error.ts";
import { parseField } from "../../protocol/field-error.ts";
import { checkModelSchema, type ModelCheckReply } from "../../protocol/system.ts";

export interface ModelCheckerOptions {
  readonly models: { servers(): Promise<ModelServerView[]>; list(): Promise<unknown> };
  /** Whether clients need a key. Then nobody sees where a server is. */
  readonly hasAuth: boolean;
  /** The limit of each check. Default: 60,000. */
  readonly timeoutMs?: number;
}

export class ModelChecker {
  readonly #options: ModelCheckerOptions;
  /** The addresses of the servers that are being checked. */
  readonly #busy = new Set<string>();

  constructor(options: ModelCheckerOptions) {
    this.#options = options;
  }

  /** Throws an `ApiError` if there is no such model, or its server is being checked. */
  async check(body: unknown, signal: AbortSignal): Promise<ModelCheckReply> {
    const { model: id, check: only } = parseField(checkModelSchema, body);
    const { hasAuth, timeoutMs = 60_000 } = this.#options;
    const { server, model } = (await this.#find(id)) ?? {};
    if (!server || !model)
      throw notFound(
        `There is no model ${JSON.stringify(id.slice(0, 100))}. GET /v1/system/models lists all models.`,
        "model_not_found",
        "model",
      );
    const { label } = server;
    if (this.#busy.has(label))
      throw new ApiError("Another check of this model server is under way. Wait until it ends.", {
        status: 429,
        code: "check_under_way",
        retryAfterMs: 2000,
      });
    this.#busy.add(label);
    try {
      const { access, provider, name } = model;
      const asked: AskedServer = { url: label, hasKey: access?.apiKey !== undefined, timeoutMs, ...advice };
      const opened = provider
        ? madeModel(provider, name)
        : await modelToCheck(access ?? { url: label }, name, { timeoutMs, signal });
      const { steps } = await checkModel(opened, { asked, signal, only });
      return { object: "list", data: steps.map((step) => toReply(step, hasAuth ? label : undefined)) };
    } finally {
      this.#busy.delete(label);
    }
  }

  async #find(id: string): Promise<{ server: ModelServerView; model: ServedModel } | undefined> {
    const { models } = this.#options;
    const look = async () =>
      (await models.servers())
        .flatMap((server) => server.models.map((model) => ({ server, model })))
        .find(({ model }) => model.id === id);
    const known = await look();
    if (known) return known;
    // A server that is slow to list its models is waited for: without it nothing can be checked.
    await models.list();
    return look();
  }
}

const advice = {
  keyAdvice: "Set apiKey beside the url in the server's config.",
  startAdvice: "Start the model server (Ollama: `ollama serve`), or correct its url in the config.",
};

/** `hidden`: an address that the caller must not see. */
function toReply(
  { step, status, code, message, advice: whatToDo, ms }: StepReport,
  hidden: string | undefined,
): ModelCheckReply["data"][number] {
  const detail = whatToDo === undefined ? message : `${message}. ${whatToDo}`;
  const isFine = status === "ok" || status === "warning";
  return { name: step, ok: isFine, status, code, detail: hidden ? hideAddress(detail, hidden) : detail, ms };
}
