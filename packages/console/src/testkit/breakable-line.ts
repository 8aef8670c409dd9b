// A connection to a server that can be cut and mended.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface BreakableLine extends AsyncDisposable {
  readonly url: string;
  /** Closes all connections, and refuses new ones until it is mended. */
  cut(): void;
  mend(): void;
  /** What the server sends does not arrive until it is released. */
  hold(): void;
  release(): void;
}

export async function startLine(serverUrl: string): Promise<BreakableLine> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const replies = new Map<Socket, Socket>();
  let isHeld = false;
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
    }
    incoming.pipe(outgoing);
    replies.set(outgoing, incoming);
    outgoing.on("close", () => replies.delete(outgoing));
    if (!isHeld) outgoing.pipe(incoming);
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
    hold() {
      isHeld = true;
      for (const outgoing of replies.keys()) outgoing.unpipe().pause();
    },
    release() {
      isHeld = false;
      for (const [outgoing, incoming] of replies) outgoing.pipe(incoming);
    },
    async [Symbol.asyncDispose]() {
      close();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
