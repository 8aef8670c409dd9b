// An MCP server for tests that says what no proper one would, over stdio or, with --http, over streamable HTTP (it
// prints its port). Its answers are in a module that it is given: `answer(method, params, say)`.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

type Answer = (method: string, params: Record<string, unknown>) => unknown;
const [file = "", flag] = process.argv.slice(2);
const { answer } = (await import(file)) as { answer: Answer };

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "raw", version: "1.0.0" },
};

/** The text of a reply; nothing for a notification. */
function replyTo(line: string): string | undefined {
  const { id, method, params } = JSON.parse(line) as {
    id?: number;
    method: string;
    params?: Record<string, unknown>;
  };
  if (id === undefined) return undefined;
  const result = method === "initialize" ? initialized : answer(method, params ?? {});
  if (typeof result === "string") return result.replace("$ID", String(id));
  return JSON.stringify(
    result === undefined
      ? { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }
      : { jsonrpc: "2.0", id, result },
  );
}

if (flag === "--http") {
  const server = createServer((request, response) => void serve(request, response)).listen(
    0,
    "127.0.0.1",
    () => console.log((server.address() as { port: number }).port),
  );
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const reply = request.method === "POST" ? replyTo(body) : undefined;
    if (reply === undefined) response.writeHead(request.method === "POST" ? 202 : 405).end();
    else if (reply.startsWith("{"))
      response.writeHead(200, { "content-type": "application/json" }).end(reply);
    else response.writeHead(200, { "content-type": "text/event-stream" }).end(reply);
  }
} else
  for await (const line of createInterface({ input: process.stdin })) {
    const reply = replyTo(line);
    if (reply !== undefined) process.stdout.write(`${reply}\n`);
  }
