// Several servers with one PostgreSQL, each with connections of its own, and a model that does what it is told.

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tool } from "rondo";
import { type ScriptedAnswer, scriptedModel } from "rondo/testing";
import type { ConfigInput } from "../../config/schema.ts";
import { type RunningServer, startServer } from "../../http/server.ts";

/** Released by a test, by name: a model that is told to wait does so until then. */
export class Gates {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  readonly #reached = new Map<string, PromiseWithResolvers<void>>();

  open(name: string): void {
    this.#get(this.#gates, name).resolve();
  }

  /** Resolves when something waits at this gate. */
  reached(name: string): Promise<void> {
    return this.#get(this.#reached, name).promise;
  }

  wait(name: string): Promise<void> {
    this.#get(this.#reached, name).resolve();
    return this.#get(this.#gates, name).promise;
  }

  #get(from: Map<string, PromiseWithResolvers<void>>, name: string): PromiseWithResolvers<void> {
    let found = from.get(name);
    if (!found) {
      found = Promise.withResolvers();
      from.set(name, found);
    }
    return found;
  }
}

/**
 * A model that obeys the last message: `say X`, `think X`, `wait X` (until the gate opens), `call TOOL {…}`. It sums up
 * what it is asked to sum up, and reports a tool's result.
 */
export function obedientModel(gates: Gates) {
  return scriptedModel(
    ({ messages }): ScriptedAnswer => {
      const last = messages.at(-1);
      const text = typeof last?.content === "string" ? last.content : "";
      if (last?.role === "tool") return { text: `The tool says ${text}.` };
      if (text.includes("Write a summary")) return { text: "A summary." };
      if (text === "count") return { text: String(messages.length) };
      const [, verb, rest = ""] = /^(\w+) (.*)$/s.exec(text) ?? [];
      if (verb === "think") return { thinking: `I think ${rest}`, text: rest };
      if (verb === "wait") return { text: ["Waiting …", gates.wait(rest), " done."] };
      if (verb === "call") {
        const [name = "", input = "{}"] = rest.split(/ (.*)/s);
        return { calls: [{ name, input: JSON.parse(input) as unknown }] };
      }
      return { text: rest };
    },
    { name: "test" },
  );
}

export interface NodesOptions {
  readonly store: string;
  readonly gates: Gates;
  readonly config?: ConfigInput;
}

/** A server with connections of its own. */
export async function startNode({ store, gates, config }: NodesOptions): Promise<RunningServer> {
  return startServer({
    port: 0,
    store,
    postgres: { connections: 4 },
    models: { test: obedientModel(gates) },
    tools: [tool("clock", "Tells the time in a city.", { city: String }, ({ city }) => `12:00 in ${city}`)],
    log: { level: "silent" },
    mcp: { allowPrivate: ["*"] },
    shutdownMs: 0,
    ...config,
  });
}

/** Gives connections to servers in turn, as a load balancer without sticky sessions does. */
export async function roundRobin(urls: readonly string[]) {
  const ports = urls.map((url) => Number(new URL(url).port));
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((client) => {
    const port = ports[next++ % ports.length] ?? 0;
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The balancer has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
