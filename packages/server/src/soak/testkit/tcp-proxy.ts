// A TCP proxy between a node and its database, which can delay, stop and break connections.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** How long each piece of data takes in each direction. */
  delayMs = 0;
  /** What happens to connections and data. `silent`: nothing gets through, and nobody is told. */
  #state: "open" | "refused" | "silent" = "open";

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections, and refuses new ones. */
  refuse(): void {
    this.#state = "refused";
    this.#breakAll();
  }

  /** Breaks all connections; new ones work. */
  reset(): void {
    this.#breakAll();
  }

  /** Lets nothing through, as a network does that drops packets. */
  silence(): void {
    this.#state = "silent";
  }

  /** Lets everything through again. Connections that were silent are broken: their data is lost. */
  heal(): void {
    if (this.#state === "silent") this.#breakAll();
    this.#state = "open";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#breakAll();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    client.on("error", () => {});
    if (this.#state === "refused") {
      client.destroy();
      return;
    }
    const target = connect(this.#targetPort, "127.0.0.1");
    target.on("error", () => {});
    for (const socket of [client, target]) socket.setNoDelay(true);
    const pair = [client, target] as const;
    this.#pairs.add(pair);
    this.#forward(client, target);
    this.#forward(target, client);
    const end = () => {
      this.#pairs.delete(pair);
      // A network that drops packets does not say that the other side is gone.
      if (this.#state === "silent") return;
      client.destroy();
      target.destroy();
    };
    client.once("close", end);
    target.once("close", end);
  }

  #forward(from: Socket, to: Socket): void {
    from.on("data", (data: Buffer) => {
      const write = () => {
        if (this.#state !== "silent" && !to.destroyed) to.write(data);
      };
      if (this.delayMs > 0) setTimeout(write, this.delayMs);
      else write();
    });
  }

  #breakAll(): void {
    for (const [client, target] of this.#pairs) {
      client.destroy();
      target.destroy();
    }
    this.#pairs.clear();
  }
}
