// Tells private hosts from public ones, by the text of a URL: addresses in any notation, and names that are only valid
// inside a network. Public names are not resolved.

import { isIP } from "node:net";
import { isPrivateAddress } from "rondo/private-address";

/** Suffixes of names that are never public. */
const privateSuffixes = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "svc", // services of a cluster
  "intranet",
  "private",
  "lan",
  "home",
  "corp",
  "home.arpa",
];

/** Whether the host of an http or https URL is private. The URL parser has normalized addresses. */
export function isPrivateHost({ hostname }: URL): boolean {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return isPrivateAddress(host);
  // A name without a dot belongs to the local network, such as another container.
  return !host.includes(".") || privateSuffixes.some((end) => host === end || host.endsWith(`.${end}`));
}

/** Whether a list of hosts, with or without ports, contains the host of a URL; `*` matches all. */
export function hasHost(hosts: ReadonlySet<string>, { hostname, port, protocol }: URL): boolean {
  const host = bareHost(hostname);
  const fullPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return ["*", hostname, host, `${hostname}:${fullPort}`, `${host}:${fullPort}`].some((it) => hosts.has(it));
}

/** Removes the brackets of an IPv6 address, and trailing dots of a name. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.{1,3}$/, "")
    .toLowerCase();
}
