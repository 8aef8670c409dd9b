// Which hosts of a URL are not of the public internet, as far as its text tells: addresses in all their spellings, and
// names that only mean something inside a network. Who a public name belongs to is not looked up.

import { isIP } from "node:net";
import { isPrivateAddress } from "./private-address.ts";

/** Ends of names that are never public. */
const privateEnds = [
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

/** Whether the host of an http or https URL is private: the parser has brought addresses into one spelling. */
export function isPrivateHost({ hostname }: URL): boolean {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return isPrivateAddress(host);
  // A name without a dot is one of the own network, such as that of another container.
  return !host.includes(".") || privateEnds.some((end) => host === end || host.endsWith(`.${end}`));
}

/** Whether a list of hosts, with or without a port, has the host of a URL; `*` has all. */
export function hasHost(hosts: ReadonlySet<string>, { hostname, port, protocol }: URL): boolean {
  const host = bareHost(hostname);
  const fullPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return ["*", hostname, host, `${hostname}:${fullPort}`, `${host}:${fullPort}`].some((it) => hosts.has(it));
}

/** Without the brackets of an IPv6 address, and without the dots at the end that a name may have. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.{1,3}$/, "")
    .toLowerCase();
}
