// Tools of this library as an MCP server: each call is a turn, with its time limit, lock and hooks.

import {
  type CallToolResult,
  isCallToolResult,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { AnyTool, Run } from "rondo";

/** Makes a server for each connection, all with the same tools, for both versions of the protocol. */
export function toolServer(tools: readonly AnyTool[], version: string): () => Server {
  const byName = new Map(tools.flatMap(withSubtools).map((tool) => [tool.wireName, tool]));
  const listed = Array.from(byName.values(), describe);
  return () => {
    const server = new Server({ name: "rondo", version }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: listed }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const { name, arguments: input = {} } = params;
      const tool = byName.get(name);
      if (tool) return call(tool, input, context);
      return failure(`There is no tool '${name}'. There are: ${[...byName.keys()].join(", ") || "none"}.`);
    });
    return server;
  };
}

function withSubtools(tool: AnyTool): AnyTool[] {
  return [tool, ...tool.subtools.flatMap(withSubtools)];
}

function describe(tool: AnyTool): Tool {
  const { name, description, parameters } = tool.toOpenAI().function;
  return {
    name,
    description,
    inputSchema: { ...parameters, type: "object" } as Tool["inputSchema"],
    annotations: { idempotentHint: tool.isIdempotent },
  };
}

/** Errors are results too: the model can read them and retry. */
async function call(tool: AnyTool, input: object, context: ServerContext): Promise<CallToolResult> {
  try {
    const { signal } = context.mcpReq;
    const running = tool.execute(input, { signal });
    return toMcpResult(await (tool.isStreaming ? drain(running as Run<unknown, unknown>, context) : running));
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

/** The result of a streaming tool, or the list of its values. Each value is reported as progress. */
async function drain(run: Run<unknown, unknown>, { mcpReq }: ServerContext): Promise<unknown> {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  const values: unknown[] = [];
  for (let step = await run.next(); ; step = await run.next()) {
    if (step.done) return step.value === undefined ? values : step.value;
    values.push(step.value);
    if (progressToken === undefined) continue;
    const message = typeof step.value === "string" ? step.value : JSON.stringify(step.value);
    const params = { progressToken, progress: values.length, message };
    await mcpReq.notify({ method: "notifications/progress", params });
  }
}

function failure(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}

/** The result of a tool as MCP has it: MCP results stay, text is text, all else JSON. */
function toMcpResult(value: unknown): CallToolResult {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject && "content" in value && isCallToolResult(value)) return value;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  return {
    content: [{ type: "text", text }],
    ...(isObject && { structuredContent: JSON.parse(text) as Record<string, unknown> }),
  };
}
