// Tells private addresses from public ones: a request must not make a program connect to private ones.

import { BlockList, isIP } from "node:net";

const closed = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local, and the metadata of clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  closed.addSubnet(network, bits, "ipv4");

/** Public IPv6 addresses: global unicast, without those for special purposes. */
const open = new BlockList();
open.addSubnet("2000::", 3, "ipv6");
const special = new BlockList();
for (const [network, bits] of [
  ["2001::", 23], // Teredo, benchmarks and other special purposes
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4 carries any IPv4 address
  ["3fff::", 20],
] as const)
  special.addSubnet(network, bits, "ipv6");

/** Whether an IP address is private, loopback, link-local or otherwise special, or not an address at all. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return closed.check(address, "ipv4");
  if (version !== 6) return true;
  const [plain = ""] = address.split("%");
  return !open.check(plain, "ipv6") || special.check(plain, "ipv6");
}
