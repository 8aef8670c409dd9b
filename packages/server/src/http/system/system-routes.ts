// The routes of the console: what this server is and does. They are absent with `console: false`.

import { systemSchema } from "../../protocol/system.ts";
import { type Route, route } from "../route.ts";
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
}

export function systemRoutes({ console: parts }: SystemRoutesOptions): Route[] {
  if (parts === undefined) return [];
  const { system, toolbox } = parts;
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
    ...toolRoutes(toolbox),
  ];
}
