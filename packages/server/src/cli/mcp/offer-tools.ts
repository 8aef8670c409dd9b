// Runs `rondo mcp`: finds the tools, and offers them until it is stopped or its client disconnects.

import { once } from "node:events";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { checkExposure } from "../../config/exposure.ts";
import { loadConfig } from "../../config/load.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { toolsOfFile } from "../chat/tool-source.ts";
import { type CliIo, stopRequest } from "../cli-io.ts";
import { quietConsole } from "../quiet-console.ts";
import { serveHttp } from "./over-http.ts";
import { toolServer } from "./tool-server.ts";

export interface OfferOptions {
  /** The config file. Default: the one of the folder, if there is one. */
  readonly config?: string;
  /** Modules that export tools, besides those of the config. Default: none. */
  readonly tools?: string[];
  /** Where to listen. Default: standard input and output are used. */
  readonly http?: { readonly host: string; readonly port: number };
  readonly version: string;
}

export async function offerTools(
  io: CliIo,
  { http, config: file, tools: files = [], version }: OfferOptions,
): Promise<void> {
  // Before the config is loaded, whose tools may print.
  const restoreConsole = http ? () => {} : quietConsole(io);
  try {
    const config = await loadConfig({ file, env: io.env, cwd: io.cwd });
    const sources = await Promise.all(files.map((module) => toolsOfFile(module, io.cwd)));
    const tools = [...config.tools, ...sources.flatMap((source) => source.tools)];
    if (tools.length === 0)
      throw new Error(
        "There are no tools to offer. Put them into `tools` of rondo.config.ts, or name a file with --tools.",
      );
    const makeServer = toolServer(tools, version);
    await (http ? overHttp(io, http, config, makeServer) : overStdio(io, makeServer));
  } finally {
    restoreConsole();
  }
}

type MakeServer = ReturnType<typeof toolServer>;

async function overStdio(io: CliIo, makeServer: MakeServer): Promise<void> {
  const stop = stopRequest(io);
  const left = once(io.input, "close");
  const handle = serveStdio(makeServer, {
    transport: new StdioServerTransport(io.input, io.output),
    onerror: (error) => io.writeError(`rondo mcp: ${error.message}\n`),
  });
  try {
    await Promise.race([left, stop.requested]);
    await handle.close();
  } finally {
    stop.release();
  }
}

async function overHttp(
  io: CliIo,
  { host, port }: NonNullable<OfferOptions["http"]>,
  { auth, cors }: ServerConfig,
  makeServer: MakeServer,
): Promise<void> {
  checkExposure({ host, auth });
  const stop = stopRequest(io);
  try {
    const onWarning = (message: string) => io.writeError(`rondo mcp: ${message}\n`);
    const server = await serveHttp(makeServer, { host, port, auth, origins: cors.origins, onWarning });
    io.write(`Rondo offers its tools at ${server.url} (${auth ? "key needed" : "no key needed"}).\n`);
    await stop.requested;
    await server.close();
  } finally {
    stop.release();
  }
}
