// Clients of the older protocol over HTTP: each has a session, so that one request can cancel another.

import { randomUUID } from "node:crypto";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

export class Sessions {
  readonly #makeServer: () => Server;
  readonly #limit: number;
  readonly #open = new Map<string, WebStandardStreamableHTTPServerTransport>();

  /** Above `limit` sessions, the least recently used one ends. */
  constructor(makeServer: () => Server, limit = 1000) {
    this.#makeServer = makeServer;
    this.#limit = limit;
  }

  async answer(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const transport = id === null ? await this.#begin() : this.#use(id);
    return transport ? transport.handleRequest(request) : unknownSession();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  #use(id: string): WebStandardStreamableHTTPServerTransport | undefined {
    const transport = this.#open.get(id);
    if (!transport) return undefined;
    this.#open.delete(id);
    this.#open.set(id, transport);
    return transport;
  }

  async #begin(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        this.#open.set(id, transport);
        const [oldest] = this.#open;
        if (this.#open.size > this.#limit && oldest) void this.#end(...oldest);
      },
      onsessionclosed: (id) => void this.#open.delete(id),
    });
    await this.#makeServer().connect(transport);
    return transport;
  }

  async #end(id: string, transport: WebStandardStreamableHTTPServerTransport): Promise<void> {
    this.#open.delete(id);
    await transport.close();
  }
}

/** By the protocol, a client then begins a new session. */
function unknownSession(): Response {
  const error = { code: -32_001, message: "The session no longer exists: initialize a new one." };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}
