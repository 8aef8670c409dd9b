// The tools of an MCP server given on the command line, by command or by URL.

import { type McpServerOptions, mcpServer } from "rondo/mcp";
import type { ToolSource } from "./tool-source.ts";

/** Connects to the server. If that fails, it has no tools, and `onWarning` gets the reason. */
export async function toolsOfMcpServer(
  target: string,
  { cwd, signal, onWarning }: { cwd: string; signal: AbortSignal; onWarning: (message: string) => void },
): Promise<ToolSource> {
  const server = mcpServer({ ...mcpTarget(target, cwd), onWarning });
  const dispose = () => server.close();
  try {
    return { tools: await server.tools(signal), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    signal.throwIfAborted();
    onWarning(`${(error as Error).message} Its tools are missing.`);
    return { tools: [], async [Symbol.asyncDispose]() {} };
  }
}

/** Splits a command at spaces outside of quotes. */
export function mcpTarget(target: string, cwd: string): McpServerOptions {
  if (/^https?:\/\//.test(target)) return { url: target };
  const words = target.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const [command = "", ...args] = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  return { command, args, cwd };
}
