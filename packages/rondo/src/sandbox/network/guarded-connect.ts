// Connects to a host of the public internet: the address that is checked is the address that is connected to.

import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { isPrivateAddress } from "./private-address.ts";

/** All addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly Pick<LookupAddress, "address">[]>;

/** A connection that the guard refuses. The message is for the code that asked for it. */
export class RefusedConnectionError extends Error {
  override readonly name = "RefusedConnectionError";
}

export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly mayBePrivate: boolean;
  readonly resolve: ResolveHost | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const maxAddresses = 4;

/** An open connection. Rejects with a `RefusedConnectionError` if one address of the host is private. */
export async function guardedConnect(options: ConnectOptions): Promise<Socket> {
  const { host, port, mayBePrivate, resolve = systemResolve, timeoutMs } = options;
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
  const addresses = isIP(host) === 0 ? await untilAborted(resolve(host), signal) : [{ address: host }];
  // One is enough: mixed addresses are an attack.
  if (!mayBePrivate && addresses.some(({ address }) => isPrivateAddress(address)))
    throw new RefusedConnectionError(`${host} has a private address`);
  let problem: unknown = new Error(`The name '${host}' has no address.`);
  for (const { address } of addresses.slice(0, maxAddresses)) {
    signal.throwIfAborted();
    try {
      return await openSocket(address, port, signal);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** A DNS look-up cannot be aborted; its result is then dropped. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function openSocket(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    const abort = () => socket.destroy(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    socket.once("error", reject);
    socket.once("close", () => signal.removeEventListener("abort", abort));
    socket.once("connect", () => {
      signal.removeEventListener("abort", abort);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function systemResolve(host: string): Promise<LookupAddress[]> {
  return lookup(host, { all: true, order: "verbatim" });
}
