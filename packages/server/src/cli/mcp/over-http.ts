// Serves the tools over streamable HTTP, with keys or for this machine only.

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { createMcpHandler, isLegacyRequest, type Server } from "@modelcontextprotocol/server";
import type { AuthConfig } from "../../config/auth-schema.ts";
import { authenticator } from "../../http/auth.ts";
import { browserGuard } from "../../http/browser-guard.ts";
import { errorBody } from "../../http/errors.ts";
import { ListenError } from "../../http/listen-error.ts";
import { ApiError, notFound } from "../../protocol/api-error.ts";
import { Sessions } from "./sessions.ts";

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly auth: AuthConfig | undefined;
  /** Web pages that may call, as in the server's config. */
  readonly origins: readonly string[];
  readonly onWarning: (message: string) => void;
}

export interface McpHttpServer {
  readonly url: string;
  close(): Promise<void>;
}

const mcpPath = "/mcp";

/** Starts to listen. Throws a `ListenError` if it cannot. */
export async function serveHttp(makeServer: () => Server, options: HttpOptions): Promise<McpHttpServer> {
  const { host, port, auth, origins, onWarning } = options;
  const modern = createMcpHandler(makeServer, { legacy: "reject", onerror: () => {} });
  const sessions = new Sessions(makeServer);
  const authenticate = await authenticator(auth, { onWarning });
  const guard = browserGuard({ origins, isOpenOnLoopback: auth === undefined });

  async function answer(request: Request, incoming: IncomingMessage): Promise<Response> {
    guard.check(incoming);
    if (request.method === "OPTIONS")
      return new Response(null, { status: 204, headers: guard.preflight(incoming) });
    await authenticate(request.headers);
    if (new URL(request.url).pathname !== mcpPath)
      throw notFound(`There is nothing here. The MCP server is at ${mcpPath}.`, "not_found");
    return (await isLegacyRequest(request)) ? sessions.answer(request) : modern.fetch(request);
  }

  const listener = getRequestListener(
    async (request, env) => {
      const { incoming } = env as HttpBindings;
      try {
        return withHeaders(await answer(request, incoming), incoming);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const reply = Response.json(errorBody(error), { status: error.status });
        if (error.status === 401) reply.headers.set("www-authenticate", "Bearer");
        return withHeaders(reply, incoming);
      }
    },
    { overrideGlobalObjects: false },
  );

  function withHeaders(response: Response, incoming: IncomingMessage): Response {
    const headers: Record<string, string> = {};
    guard.addHeaders(incoming, headers);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  }

  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await once(server.listen(port, host), "listening").catch((error: NodeJS.ErrnoException) => {
    throw new ListenError(error, host, port);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${actualPort}${mcpPath}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([modern.close(), sessions.close()]);
      server.closeAllConnections();
      await closed;
    },
  };
}
