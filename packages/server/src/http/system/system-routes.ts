// The routes of the console: what this server is and does. They are absent with `console: false`.

import { systemSchema } from "../../protocol/system.ts";
import { type Route, route } from "../route.ts";
import type { System } from "./system.ts";

export interface SystemRoutesOptions {
  /** Default: there are no such routes. */
  system?: System | undefined;
}

export function systemRoutes({ system }: SystemRoutesOptions): Route[] {
  if (system === undefined) return [];
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
  ];
}
