// Blocks connections to other machines, so that a test that needs the network fails.

import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { BlockList, isIP, Socket } from "node:net";
import { checkOptions } from "../error/check.ts";
import { brandErrors, RondoError } from "../error/rondo-error.ts";

/** A connection that `forbidNetwork()` blocked. */
export class NetworkForbiddenError extends RondoError {
  readonly code = "network_forbidden";
  /** The host of the blocked connection. */
  readonly host: string;

  constructor(host: string) {
    super(
      `A connection to '${host}' was refused, because forbidNetwork() is on and '${host}' is not on this machine. ` +
        `Use a server on 127.0.0.1, or allow it: forbidNetwork({ allow: ["${host}"] }).`,
    );
    this.host = host;
  }
}

export interface ForbidNetworkOptions {
  /** Names or addresses that stay reachable. Default: only this machine. */
  allow?: readonly string[];
}

/**
 * Blocks all connections of this process except to loopback, until it is disposed of. TCP, TLS, HTTP, `fetch`,
 * WebSockets and DNS queries then fail with a `NetworkForbiddenError` that names the host; Unix sockets stay allowed.
 * Other threads and processes, and open connections, are not affected.
 *
 * ```ts
 * using network = forbidNetwork();
 * ```
 *
 * If several are active, all of them must allow a host.
 */
export function forbidNetwork(options: ForbidNetworkOptions = {}): Disposable {
  checkOptions("options", options, ["allow"]);
  const allowed = new Set(options.allow?.map((host) => host.toLowerCase()));
  if (active.size === 0) install();
  active.add(allowed);
  return {
    [Symbol.dispose]: () => {
      if (active.delete(allowed) && active.size === 0) uninstall();
    },
  };
}

const active = new Set<ReadonlySet<string>>();
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("0.0.0.0");
loopback.addAddress("::1", "ipv6");
loopback.addAddress("::", "ipv6");

function isForbidden(host: string): boolean {
  const name = host.toLowerCase();
  const version = isIP(name);
  if (version > 0 && loopback.check(name, version === 4 ? "ipv4" : "ipv6")) return false;
  if (name === "" || name === "localhost" || name.endsWith(".localhost")) return false;
  return [...active].some((allowed) => !allowed.has(name));
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
let restorers: (() => void)[] = [];

function install(): void {
  replace(Socket.prototype, "connect", (connect) => {
    return function (this: unknown, ...args) {
      const host = hostOf(args);
      if (!isForbidden(host)) return connect.apply(this, args);
      const error = new NetworkForbiddenError(host);
      // Not synchronously: the caller still sets up the socket, which for TLS must be alive.
      process.nextTick(() => (this as Socket).destroy(error));
      return this;
    };
  });
  for (const name of Object.keys(dns).filter((key) => /^(lookup|resolve|reverse)/.test(key))) {
    replace(dns, name, (ask) => (...args) => {
      const [host, callback] = [String(args[0]), args.at(-1)];
      if (!isForbidden(host) || typeof callback !== "function") return ask(...args);
      return process.nextTick(callback, new NetworkForbiddenError(host));
    });
    replace(dns.promises, name, (ask) => (...args) => {
      const host = String(args[0]);
      return isForbidden(host) ? Promise.reject(new NetworkForbiddenError(host)) : ask(...args);
    });
  }
  // So that `import { lookup } from "node:dns"` sees it too.
  syncBuiltinESMExports();
}

function uninstall(): void {
  for (const step of restorers) step();
  restorers = [];
  syncBuiltinESMExports();
}

function replace(owner: object, name: string, wrap: (original: AnyFunction) => AnyFunction): void {
  const functions = owner as Record<string, AnyFunction>;
  const original = functions[name];
  if (!original) return;
  functions[name] = wrap(original);
  restorers.push(() => {
    functions[name] = original;
  });
}

/** The host of a call to `connect`: `(options)`, `(port, host?)`, `(path)`, or a list of these from inside Node. */
function hostOf(args: unknown): string {
  const [first, second] = args as unknown[];
  if (Array.isArray(first)) return hostOf(first);
  if (typeof first === "object" && first !== null) {
    const { host, path } = first as { host?: unknown; path?: unknown };
    return typeof path === "string" || typeof host !== "string" ? "localhost" : host;
  }
  const isPort = typeof second === "string" && /^\d+$/.test(String(first));
  return isPort ? second : "localhost";
}

brandErrors({ NetworkForbiddenError });
