// The routes of the console: what a browser sees at the server's address.

import { z } from "zod";
import { asksForPage, ConsoleFiles } from "./console-files.ts";
import { type Route, route } from "./route.ts";

export interface ConsoleRoutesOptions {
  /** Whether the server has a console. Default: true. */
  hasConsole?: boolean | undefined;
  version: string;
}

const indexSchema = z.object({
  name: z.string(),
  version: z.string(),
  links: z.record(z.string(), z.string()),
});

export function consoleRoutes({ hasConsole = true, version }: ConsoleRoutesOptions): Route[] {
  const files = new ConsoleFiles();
  const links = {
    api: "/v1",
    models: "/v1/models",
    responses: "/v1/responses",
    openapi: "/openapi.json",
    health: "/healthz",
    ready: "/readyz",
    metrics: "/metrics",
  };
  const index = route({
    method: "GET",
    path: "/",
    operationId: "getIndex",
    summary: "The console for browsers, and an index with links for programs.",
    isPublic: true,
    reply: indexSchema,
    async handle({ exchange }) {
      exchange.headers["vary"] = "Accept";
      if (!hasConsole || !asksForPage(exchange)) return { name: "rondo", version, links };
      return files.sendPage(exchange);
    },
  });
  if (!hasConsole) return [index];
  const file = route({
    method: "GET",
    path: "/console/:name",
    params: { name: "name" },
    operationId: "getConsoleFile",
    summary: "A file of the console.",
    isPublic: true,
    isBinary: true,
    errors: { "404": "The console has no such file." },
    async handle({ exchange, params: { name } }) {
      files.sendFile(exchange, name);
    },
  });
  return [index, file];
}
