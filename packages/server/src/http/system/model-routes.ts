// The routes of the models as the console shows them: their profiles, and whether they work.

import { checkModelSchema, modelCheckReplySchema, systemModelListSchema } from "../../protocol/system.ts";
import { type Route, route } from "../route.ts";
import type { ModelChecker } from "./model-checker.ts";
import type { ModelFacts } from "./model-facts.ts";

export function modelRoutes(facts: ModelFacts, checker: ModelChecker): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/system/models",
      operationId: "listSystemModels",
      summary: "List the models with their profiles, and where each fact of a profile comes from.",
      isRoutine: true,
      reply: systemModelListSchema,
      handle: () => facts.list(),
    }),
    route({
      method: "POST",
      path: "/v1/system/models/check",
      operationId: "checkModel",
      summary: "Check whether a model answers, streams and calls a tool, as `rondo doctor` does.",
      body: checkModelSchema,
      reply: modelCheckReplySchema,
      errors: { "404": "There is no such model.", "429": "Another check of its model server is under way." },
      handle: ({ body, exchange }) => checker.check(body.value, exchange.signal),
    }),
  ];
}
