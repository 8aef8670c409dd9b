// The routes about the server itself: its models, its health, its numbers and its description.

import type { JsonObject } from "rondo";
import { notFound } from "../protocol/api-error.ts";
import type { Exchanges } from "./exchange.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { ResponsesApi, Route } from "./route.ts";

export interface ServerRoutesOptions {
  responses: ResponsesApi;
  exchanges: Exchanges;
  metrics: Metrics;
  logger: Logger;
  /** Makes the OpenAPI document. Called once, when someone asks for it. */
  openapi: () => JsonObject;
}

export function serverRoutes({
  responses,
  exchanges,
  metrics,
  logger,
  openapi,
}: ServerRoutesOptions): Route[] {
  // The API wants to know when a model was made. Nobody can tell, so it is when this server began to offer it.
  const created = Math.floor(Date.now() / 1000);
  const modelObject = ({ id, ownedBy }: { id: string; ownedBy: string }) => ({
    id,
    object: "model",
    created,
    owned_by: ownedBy,
  });
  let description: string | undefined;

  return [
    {
      method: "GET",
      path: "/v1/models",
      async handle(exchange) {
        const models = await responses.listModels();
        exchange.json(200, { object: "list", data: models.map(modelObject) });
      },
    },
    {
      method: "GET",
      // Names of models may have slashes in them.
      path: "/v1/models/:id{.+}",
      async handle(exchange, request) {
        const id = request.param("id") ?? "";
        const model = (await responses.listModels()).find((known) => known.id === id);
        if (model === undefined)
          throw notFound(
            `There is no model ${JSON.stringify(id)}. GET /v1/models lists those that there are.`,
            "model_not_found",
            "model",
          );
        exchange.json(200, modelObject(model));
      },
    },
    {
      method: "GET",
      path: "/healthz",
      isPublic: true,
      async handle(exchange) {
        exchange.json(200, { status: "ok" });
      },
    },
    {
      method: "GET",
      path: "/readyz",
      isPublic: true,
      async handle(exchange) {
        if (exchanges.isDraining) return exchange.json(503, { status: "stopping" });
        try {
          await responses.check();
          exchange.json(200, { status: "ready" });
        } catch (error) {
          logger.error("The server is not ready.", { requestId: exchange.id }, error);
          exchange.json(503, { status: "unavailable" });
        }
      },
    },
    {
      method: "GET",
      path: "/metrics",
      isPublic: true,
      async handle(exchange) {
        exchange.text(200, await metrics.text(), metrics.contentType);
      },
    },
    {
      method: "GET",
      path: "/openapi.json",
      isPublic: true,
      async handle(exchange) {
        description ??= JSON.stringify(openapi());
        exchange.text(200, description, "application/json");
      },
    },
  ];
}
