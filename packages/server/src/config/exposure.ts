// Refuses to start a server that others could use without a key.

import { BlockList, isIP } from "node:net";
import { ConfigError } from "./config-error.ts";
import type { ServerConfig } from "./schema.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether only this machine can reach a server that listens there. `0.0.0.0` and `::` are all addresses. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === "localhost";
  return loopback.check(host, version === 4 ? "ipv4" : "ipv6");
}

/** Throws a `ConfigError` if other machines can reach the server and no auth is configured. */
export function checkExposure({ host, auth }: Pick<ServerConfig, "host" | "auth">): void {
  if (isLoopback(host) || auth !== undefined) return;
  const message =
    `other machines can reach ${host}, and without auth everyone there could use the server and read all ` +
    "responses. Make a key with `rondo key` and put its hash into auth.keys of the config or into " +
    "RONDO_AUTH_KEYS, or configure auth.jwt, or listen on 127.0.0.1.";
  throw new ConfigError([{ key: "auth", source: "not set", message }]);
}
