// The routes of the console: what this server is and does. They are absent with `console: false`.

import {
  logQuerySchema,
  logSchema,
  sampleListSchema,
  sampleQuerySchema,
  systemSchema,
} from "../../protocol/system.ts";
import { type Route, route } from "../route.ts";
import type { LogTail } from "./log-tail.ts";
import type { ModelChecker } from "./model-checker.ts";
import type { ModelFacts } from "./model-facts.ts";
import { modelRoutes } from "./model-routes.ts";
import { type Samples, sampleMs } from "./samples.ts";
import type { System } from "./system.ts";
import { toolRoutes } from "./tool-routes.ts";
import type { Toolbox } from "./toolbox.ts";

export interface SystemRoutesOptions {
  /** Default: there are no such routes. */
  console?: ConsoleParts | undefined;
}

/** What the routes of the console show. */
export interface ConsoleParts {
  readonly system: System;
  readonly toolbox: Toolbox;
  readonly modelFacts: ModelFacts;
  readonly modelChecker: ModelChecker;
  readonly samples: Samples;
  readonly logTail: LogTail;
  /** Whether clients need a key. Then each sees only lines that name it. */
  readonly hasAuth: boolean;
}

export function systemRoutes({ console: parts }: SystemRoutesOptions): Route[] {
  if (parts === undefined) return [];
  const { system, toolbox, samples, logTail, hasAuth } = parts;
  return [
    route({
      method: "GET",
      path: "/v1/system",
      operationId: "getSystem",
      summary: "What this server is, and how it does: its model servers, its queue and its store.",
      isRoutine: true,
      reply: systemSchema,
      handle: ({ owner }) => system.state(owner),
    }),
    route({
      method: "GET",
      path: "/v1/system/samples",
      operationId: "listSamples",
      summary: "How the server did in the last 15 minutes, every 2 seconds.",
      isRoutine: true,
      query: sampleQuerySchema,
      reply: sampleListSchema,
      handle: async ({ query }) => {
        return { object: "list", interval_ms: sampleMs, data: samples.read(query.after_ms) };
      },
    }),
    route({
      method: "GET",
      path: "/v1/system/log",
      operationId: "getLog",
      summary: "The last lines of the log; with keys, those about the owner.",
      isRoutine: true,
      query: logQuerySchema,
      reply: logSchema,
      handle: async ({ owner, query: { after, limit } }) => {
        return { object: "list", ...logTail.read({ after, limit, owner: hasAuth ? owner : undefined }) };
      },
    }),
    ...modelRoutes(parts.modelFacts, parts.modelChecker),
    ...toolRoutes(toolbox),
  ];
}
