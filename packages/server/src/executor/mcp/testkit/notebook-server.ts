// An MCP server in this process, over streamable HTTP, that writes down what is asked of it.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { type CallToolResult, createMcpHandler, Server, type Tool } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

type Arguments = Readonly<Record<string, unknown>>;

export interface NotebookOptions {
  /** More tools, beside those that it always has. Default: none. */
  readonly tools?: readonly Tool[];
  /** What each call waits for. Default: nothing. */
  readonly gate?: ((name: string, input: Arguments) => Promise<void>) | undefined;
  /** Answers a request instead of the server. Default: the server does. */
  readonly intercept?: ((request: Request) => Response | undefined) | undefined;
}

export interface Notebook {
  readonly url: string;
  readonly port: number;
  /** `pay({"n":1})`. */
  readonly calls: string[];
  readonly lists: { count: number };
  /** The `_meta` of each call. */
  readonly metas: (Readonly<Record<string, unknown>> | undefined)[];
  readonly headers: Headers[];
  readonly urls: string[];
  /** Calls that were cancelled. */
  readonly aborted: string[];
  /** Resolves when the next call of this tool has come. */
  arrival(name: string): Promise<void>;
}

const number = { type: "integer" } as const;
const one: Tool["inputSchema"] = { type: "object", properties: { n: number }, required: ["n"] };

const notebookTools: Tool[] = [
  { name: "look", description: "Looks.", inputSchema: one, annotations: { readOnlyHint: true } },
  { name: "pay", description: "Pays.", inputSchema: one },
  { name: "fail", description: "Fails.", inputSchema: one },
  { name: "wait", description: "Waits until it is cancelled.", inputSchema: one },
];

/** Starts it for the length of a test. */
export async function startNotebook({
  tools = [],
  gate,
  intercept,
}: NotebookOptions = {}): Promise<Notebook> {
  const calls: string[] = [];
  const aborted: string[] = [];
  const metas: Notebook["metas"] = [];
  const headers: Headers[] = [];
  const urls: string[] = [];
  const lists = { count: 0 };
  const waiting = new Map<string, (() => void)[]>();
  const say = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

  const handler = createMcpHandler(() => {
    const server = new Server({ name: "notebook", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => {
      lists.count += 1;
      return { tools: [...notebookTools, ...tools] };
    });
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const { name, arguments: input = {} } = params;
      calls.push(`${name}(${JSON.stringify(input)})`);
      const { _meta: meta } = mcpReq;
      metas.push(meta);
      for (const ring of waiting.get(name)?.splice(0) ?? []) ring();
      await gate?.(name, input);
      if (name === "fail") return { ...say(`No ${String(input["n"])}.`), isError: true };
      if (name !== "wait") return say(`${name} ${String(input["n"])} done`);
      await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve, { once: true }));
      aborted.push(name);
      return say("cancelled");
    });
    return server;
  });
  const listener = getRequestListener(
    async (request) => {
      headers.push(new Headers(request.headers));
      urls.push(request.url);
      return intercept?.(request) ?? handler.fetch(request);
    },
    { overrideGlobalObjects: false },
  );
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    calls,
    lists,
    metas,
    headers,
    urls,
    aborted,
    arrival: (name) => new Promise((resolve) => waiting.set(name, [...(waiting.get(name) ?? []), resolve])),
  };
}
