// The routes about the server itself: models, health, metrics and the OpenAPI document.

import type { JsonObject } from "rondo";
import { z } from "zod";
import { notFound } from "../protocol/api-error.ts";
import { modelListSchema, modelSchema, readySchema } from "../protocol/replies.ts";
import type { Exchanges } from "./exchange.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { Readiness } from "./readiness.ts";
import type { RequestAudit } from "./request-audit.ts";
import { type ResponsesApi, type Route, route } from "./route.ts";

export interface ServerRoutesOptions {
  responses: ResponsesApi;
  exchanges: Exchanges;
  metrics: Metrics;
  logger: Logger;
  /** The audit log. Default: none. */
  audit?: Pick<RequestAudit, "settled"> | undefined;
}

const health = z.object({ status: z.string() });

/** `openapi` makes the OpenAPI document; it is called once, on the first request for it. */
export function serverRoutes(
  { responses, exchanges, metrics, logger, audit }: ServerRoutesOptions,
  openapi: () => JsonObject,
): Route[] {
  // The API wants the time when a model was made. That is unknown, so it is when this server began to offer it.
  const created = Math.floor(Date.now() / 1000);
  const listModels = async () =>
    (await responses.listModels()).map(({ id, ownedBy, isUnavailable }) => ({
      id,
      object: "model",
      created,
      owned_by: ownedBy,
      ...(isUnavailable && { available: false }),
    }));
  /** How many model servers answer. Without their addresses: everyone may see it. */
  const modelServers = async () => {
    const health = await responses.modelServerHealth().catch(() => undefined);
    return health === undefined ? {} : { model_servers: { up: health.up, down: health.down } };
  };
  const check = async () => {
    await responses.check();
    await audit?.settled();
  };
  const readiness = new Readiness({ check, logger });
  let document: string | undefined;

  return [
    route({
      method: "GET",
      path: "/v1/models",
      operationId: "listModels",
      summary: "List the models.",
      reply: modelListSchema,
      handle: async () => ({ object: "list", data: await listModels(), ...(await modelServers()) }),
    }),
    route({
      method: "GET",
      // Names of models may contain slashes.
      path: "/v1/models/:id{.+}",
      params: { id: "model" },
      operationId: "getModel",
      summary: "Get a model.",
      reply: modelSchema,
      errors: { "404": "There is no such model." },
      async handle({ params: { id } }) {
        const model = (await listModels()).find((known) => known.id === id);
        if (model) return model;
        throw notFound(
          `There is no model ${JSON.stringify(id)}. GET /v1/models lists all models.`,
          "model_not_found",
          "model",
        );
      },
    }),
    route({
      method: "GET",
      path: "/healthz",
      operationId: "isAlive",
      summary: "Whether the process is alive.",
      isPublic: true,
      reply: health,
      handle: async () => ({ status: "ok" }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      operationId: "isReady",
      summary: "Whether it accepts requests, and how many model servers answer.",
      isPublic: true,
      reply: readySchema,
      errors: {
        "503": "It does not: the store or the audit log cannot be written, or the server is stopping.",
      },
      async handle({ exchange }) {
        if (exchanges.isDraining)
          return exchange.json(503, { status: "stopping", reason: "The server is stopping." });
        const reason = await readiness.notReadyReason();
        if (reason !== undefined) return exchange.json(503, { status: "unavailable", reason });
        return { status: "ready", ...(await modelServers()) };
      },
    }),
    route({
      method: "GET",
      path: "/metrics",
      operationId: "getMetrics",
      summary: "Metrics, in the format of Prometheus.",
      isPublic: true,
      reply: z.string(),
      async handle({ exchange }) {
        exchange.text(200, await metrics.text(), metrics.contentType);
      },
    }),
    route({
      method: "GET",
      path: "/openapi.json",
      operationId: "getOpenapi",
      summary: "This document.",
      isPublic: true,
      reply: z.looseObject({}),
      async handle({ exchange }) {
        document ??= JSON.stringify(openapi());
        exchange.text(200, document, "application/json");
      },
    }),
  ];
}
