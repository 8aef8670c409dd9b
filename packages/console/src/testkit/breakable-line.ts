// A connection to a server that can be cut and mended.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface BreakableLine extends AsyncDisposable {
  readonly url: string;
  /** Closes all connections, and refuses new ones until it is mended. */
  cut(): void;
  mend(): void;
}

export async function startLine(serverUrl: string): Promise<BreakableLine> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((incoming) => {
    const outgoing = connect(Number(port), hostname);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    if (isCut) incoming.destroy();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      close();
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      close();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
