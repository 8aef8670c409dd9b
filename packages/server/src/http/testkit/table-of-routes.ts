// The table of routes over services that do nothing, for tests of the table itself.

import { Conversations } from "../../run/conversations.ts";
import { memoryStore } from "../../store/memory.ts";
import { Exchanges } from "../exchange.ts";
import { createLogger } from "../log.ts";
import { Metrics } from "../metrics.ts";
import type { Route } from "../route.ts";
import { allRoutes } from "../routes.ts";
import { fakeResponses } from "./fake-responses.ts";

export function tableOfRoutes(): Route[] {
  return allRoutes({
    responses: fakeResponses(),
    conversations: new Conversations({ store: memoryStore(), limits: { maxItems: 1000 } }),
    models: { resolve: () => Promise.reject(new Error("This test has no models.")) },
    exchanges: new Exchanges(),
    metrics: new Metrics(),
    logger: createLogger({ level: "silent" }),
    keepAliveMs: 0,
    version: "1.2.3",
  });
}
