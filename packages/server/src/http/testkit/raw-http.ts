// A client that shows what is on the wire, and a server on loopback for one test.

import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** Serves on a free port of loopback until it is disposed of. */
export async function serveNode(
  listener: RequestListener,
): Promise<{ port: number; server: Server } & AsyncDisposable> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A connection on which a test says exactly what it wants to say. */
export class RawClient {
  readonly socket: Socket;
  /** Everything that has come. */
  received = "";
  /** Resolves when the connection is over, however it ends. */
  readonly closed: Promise<void>;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket.setEncoding("utf8");
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    socket.on("error", () => {});
    socket.on("data", (text: string) => {
      this.received += text;
      this.#look();
    });
    socket.on("close", () => {
      resolve();
      this.#look();
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, "127.0.0.1");
    const client = new RawClient(socket);
    await once(socket, "connect");
    return client;
  }

  /** Sends a request. The body, if any, gets its length. */
  request(method: string, path: string, headers: Record<string, string> = {}, body = ""): void {
    const all: Record<string, string> = { host: "127.0.0.1", ...headers };
    if (body !== "") all["content-length"] ??= String(Buffer.byteLength(body));
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  }

  /** Waits until what has come matches, or fails when the connection ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.received);
        if (match === null && !this.socket.closed) return;
        this.#waiting.delete(look);
        if (match) resolve(match);
        else reject(new Error(`${pattern} did not come, but: ${this.received}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }
}
