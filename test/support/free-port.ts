import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port of loopback for a server that is started later. It is below those that systems give to connections, so no
 * connection of a test beside takes it in the meantime, and differs from the ports of earlier calls.
 */
export async function freePort(): Promise<number> {
  while (true) {
    const port = randomInt(10_000, 32_768);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

const given = new Set<number>();

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
