// The way out of a container with an allow-list: a proxy of this process on a file socket.

import { randomBytes } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { requireValue } from "../../error/check.ts";
import { EgressProxy, type EgressProxyOptions } from "../network/egress-proxy.ts";

/** Options of the proxies of a tier. What may be reached is the container's. */
export type EgressOptions = Omit<EgressProxyOptions, "allow">;

export interface Egress {
  readonly socketPath: string;
  close(): Promise<void>;
}

/** What the kernel takes as the name of a file socket. */
const maxSocketPath = 107;

export async function openEgress(folder: string, options: EgressProxyOptions): Promise<Egress> {
  const socketPath = join(folder, `${randomBytes(4).toString("hex")}.sock`);
  requireValue(
    Buffer.byteLength(socketPath) <= maxSocketPath,
    "folder",
    `a folder short enough for file sockets of at most ${maxSocketPath} bytes`,
    socketPath,
  );
  const proxy = new EgressProxy(options);
  await proxy.listen(socketPath);
  // Containers run as other users, where this process is root. Nobody else can list the folder to find it.
  chmodSync(socketPath, 0o666);
  return {
    socketPath,
    async close() {
      await proxy.close();
      rmSync(socketPath, { force: true });
    },
  };
}
