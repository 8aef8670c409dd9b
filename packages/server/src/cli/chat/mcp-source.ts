// The tools of an MCP server given on the command line, by command or by URL.

import { type McpServerOptions, mcpServer } from "rondo/mcp";
import type { ToolSource } from "./tool-source.ts";

/** Connects to the server. Throws an error for the user: who names a server wants its tools. */
export async function toolsOfMcpServer(
  target: string,
  { cwd, signal, onWarning }: { cwd: string; signal: AbortSignal; onWarning: (message: string) => void },
): Promise<ToolSource> {
  const options = mcpTarget(target, cwd);
  const server = mcpServer({ ...options, onWarning });
  const dispose = () => server.close();
  try {
    return { tools: await server.tools(signal), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    signal.throwIfAborted();
    const fix =
      "url" in options ? "Check the URL" : "Check the command; quotes around it belong to the shell";
    throw new Error(`${(error as Error).message} ${fix}, or leave out --mcp ${JSON.stringify(target)}.`, {
      cause: error,
    });
  }
}

/** Splits a command at spaces outside of quotes. */
export function mcpTarget(target: string, cwd: string): McpServerOptions {
  if (/^https?:\/\//.test(target)) return { url: target };
  const words = target.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const [command = "", ...args] = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  return { command, args, cwd };
}
