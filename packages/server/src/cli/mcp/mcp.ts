// `rondo mcp`: the tools of the config, or of files, for any MCP client.

import { Command, InvalidArgumentError } from "commander";
import type { CliIo } from "../cli-io.ts";
import type { McpWishes } from "./offer-tools.ts";

interface Flags extends Omit<McpWishes, "http" | "version"> {
  readonly http?: true;
  readonly host?: string;
  readonly port?: number;
}

const examples = `
Examples:
  rondo mcp                                    The tools of rondo.config.ts, over standard input and output.
  rondo mcp --tools tools.ts                   Those of a file.
  rondo mcp --http --port 4501                 At http://127.0.0.1:4501/mcp.

A client starts it by its command line: { "command": "npx", "args": ["@rondo/server", "mcp"] }.`;

const defaultHost = "127.0.0.1";
const defaultPort = 4501;

export function mcpCommand(io: CliIo): Command {
  return new Command("mcp")
    .description("Offer the config's tools to MCP clients, over standard input and output or HTTP.")
    .option(
      "--config <file>",
      "The config file; else rondo.config.ts or rondo.yaml of this folder, if there.",
    )
    .option(
      "--tools <file>",
      "A module that exports tools made with tool(). May be given more than once.",
      (file: string, files: string[] | undefined) => [...(files ?? []), file],
    )
    .option("--http", "Listens for streamable HTTP, instead of standard input and output.")
    .option("--host <address>", `With --http: the address to listen on. (default: ${defaultHost})`)
    .option("--port <number>", `With --http: the port; 0 takes any. (default: ${defaultPort})`, portNumber)
    .addHelpText("after", examples)
    .action(async ({ http, host, port, ...flags }: Flags, command: Command) => {
      if (!http && (host !== undefined || port !== undefined))
        command.error("error: --host and --port go with --http.");
      const address = { host: host ?? defaultHost, port: port ?? defaultPort };
      // Only here: no other command needs the protocol.
      const { offerTools } = await import("./offer-tools.ts");
      await offerTools(io, {
        ...flags,
        ...(http && { http: address }),
        version: command.parent?.version() ?? "",
      });
    });
}

function portNumber(value: string): number {
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new InvalidArgumentError("Expected a number from 0 to 65535.");
}
