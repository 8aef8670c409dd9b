// `rondo mcp`: the tools of the config, or of files, for any MCP client.

import { Command } from "commander";
import type { CliIo } from "../cli-io.ts";
import { configFlag, wholeNumber } from "../flag-values.ts";
import type { OfferOptions } from "./offer-tools.ts";

interface Flags extends Omit<OfferOptions, "http" | "version"> {
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
    .option(...configFlag)
    .option(
      "--tools <file>",
      "A module that exports tools made with tool(). May be given more than once.",
      (file: string, files: string[] | undefined) => [...(files ?? []), file],
    )
    .option("--http", "Listen for streamable HTTP instead of using standard input and output.")
    .option("--host <address>", `With --http: the address to listen on. (default: ${defaultHost})`)
    .option(
      "--port <number>",
      `With --http: the port; 0 takes any free one. (default: ${defaultPort})`,
      wholeNumber(0, 65_535),
    )
    .addHelpText("after", examples)
    .action(async ({ http, host, port, ...flags }: Flags, command: Command) => {
      if (!http && (host !== undefined || port !== undefined))
        command.error("error: --host and --port go with --http.");
      const address = { host: host ?? defaultHost, port: port ?? defaultPort };
      // Loaded on demand: no other command needs the protocol.
      const { offerTools } = await import("./offer-tools.ts");
      await offerTools(io, {
        ...flags,
        ...(http && { http: address }),
        version: command.parent?.version() ?? "",
      });
    });
}
