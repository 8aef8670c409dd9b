// Decides which URLs of requests the server connects to, by the resolved address.

import { type LookupAddress, type LookupOptions, lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { isPrivateAddress } from "rondo/private-address";
import { bareHost, hasHost } from "../../net/host-rules.ts";

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface UrlGuardOptions {
  /** Hosts that may have private addresses, as they stand in a URL, with or without the port; `*` for all. */
  readonly allowPrivate: readonly string[];
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve | undefined;
}

/** A URL of a request that this server does not connect to. */
export class RefusedUrlError extends Error {
  override readonly name = "RefusedUrlError";
}

export interface UrlGuard {
  /** Throws a `RefusedUrlError` for what can be refused without resolving the name. */
  check(url: URL): void;
  /** A `lookup` for the connection itself, so that the checked address is the one that is used. */
  lookupFor(url: URL): LookupFunction;
}

export function urlGuard({ allowPrivate, resolve = systemResolve }: UrlGuardOptions): UrlGuard {
  const allowed = new Set(allowPrivate.map((host) => host.toLowerCase()));
  const isAllowed = (url: URL) => hasHost(allowed, url);
  return {
    check(url) {
      if (url.protocol !== "http:" && url.protocol !== "https:")
        throw new RefusedUrlError(`expected an http or https URL, got one with '${url.protocol}'`);
      if (url.username !== "" || url.password !== "")
        throw new RefusedUrlError("expected a URL without a user and a password; use headers for them");
      const address = bareHost(url.hostname);
      if (isIP(address) !== 0 && isPrivateAddress(address) && !isAllowed(url))
        throw refused(url, "is a private address");
    },
    lookupFor: (url) => {
      const find = async (host: string, options: LookupOptions) => {
        const addresses = inFamily(await resolve(host), options);
        if (addresses.length === 0) throw noAddress(host);
        // One is enough: mixed addresses are an attack.
        if (addresses.some(({ address }) => isPrivateAddress(address)) && !isAllowed(url))
          throw refused(url, "stands for a private address");
        return addresses;
      };
      const look = callbackify(find);
      return (host, options, callback) => {
        look(host, options, (error, addresses) => {
          if (error) return callback(error, "", 0);
          const [first] = addresses as [LookupAddress];
          return options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
        });
      };
    },
  };
}

function refused({ hostname }: URL, what: string): RefusedUrlError {
  return new RefusedUrlError(
    `'${hostname}' ${what}, and this server does not connect to private addresses for requests. Its operator can allow it with mcp.allowPrivate`,
  );
}

function inFamily(found: readonly LookupAddress[], { family }: LookupOptions): readonly LookupAddress[] {
  const wanted = family === "IPv4" ? 4 : family === "IPv6" ? 6 : family;
  return wanted === 4 || wanted === 6 ? found.filter((it) => it.family === wanted) : found;
}

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`The name '${host}' has no address.`), { code: "ENOTFOUND" });
}

function systemResolve(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: "verbatim" }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });
}

/** The refusal in a chain of causes. */
export function refusalIn(error: unknown): RefusedUrlError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof RefusedUrlError) return at;
  return undefined;
}
