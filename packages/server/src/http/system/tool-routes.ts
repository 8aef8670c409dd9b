// The routes of the server's own tools: what there is, and one call by hand.

import { callToolSchema, toolCallReplySchema, toolListSchema } from "../../protocol/system.ts";
import { type Route, route } from "../route.ts";
import { traceHeadersOf } from "../trace-headers.ts";
import type { Toolbox } from "./toolbox.ts";

export function toolRoutes(toolbox: Toolbox): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/tools",
      operationId: "listTools",
      summary: "List the tools that this server runs, and the state of its MCP servers.",
      isRoutine: true,
      reply: toolListSchema,
      handle: ({ owner }) => toolbox.list(owner),
    }),
    route({
      method: "POST",
      path: "/v1/tools/call",
      operationId: "callTool",
      summary:
        "Call a local tool, or one of an MCP server of the config. It needs no approval: a person asked for it.",
      body: callToolSchema,
      reply: toolCallReplySchema,
      errors: { "404": "There is no such tool.", "502": "The MCP server cannot be reached." },
      handle: ({ owner, body, exchange: { id: requestId, incoming, signal } }) =>
        toolbox.call({ owner, requestId, traceHeaders: traceHeadersOf(incoming) }, body.value, signal),
    }),
  ];
}
