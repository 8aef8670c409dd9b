// The allow-list of a network policy: patterns of hosts, what they match, and what two lists have in common.

import { isIP } from "node:net";
import { requireType, requireValue } from "../../error/check.ts";

/** One entry of an allow-list. */
export interface AllowedHost {
  /** A name in lower case or an address without brackets; for `isSuffix`, what follows the `*.`. Empty for `*`. */
  readonly host: string;
  /** Whether names below `host` match, instead of `host` itself. */
  readonly isSuffix: boolean;
  /** Undefined: 80 and 443. */
  readonly port: number | undefined;
}

const maxEntries = 1000;
const expected = "a host such as 'pypi.org', '*.example.com' or 'example.com:8080'";
const defaultPorts = [80, 443];

/** Parses an allow-list. Throws for an entry that is not a host. */
export function parseAllowedHosts(field: string, hosts: unknown): readonly AllowedHost[] {
  requireType(Array.isArray(hosts), field, "a list of hosts", hosts);
  requireValue(hosts.length <= maxEntries, field, `at most ${maxEntries} hosts`, hosts.length);
  return hosts.map((host, at) => parseAllowedHost(`${field}[${at}]`, host));
}

function parseAllowedHost(field: string, value: unknown): AllowedHost {
  requireType(typeof value === "string", field, expected, value);
  requireValue(value.length <= 300, field, expected, value);
  const parts =
    /^(?<star>\*\.)?(?<name>\[[0-9a-fA-F:.]+\]|[^\s:/@?#*[\]\\%]+|\*)(?::(?<port>\d{1,5}))?$/.exec(
      value,
    )?.groups;
  requireValue(parts !== undefined, field, expected, value);
  const { star, name = "", port } = parts;
  const isEverything = name === "*";
  const host = isEverything ? "" : normalizedHost(name);
  const isSuffix = isEverything || star !== undefined;
  requireValue(host !== undefined, field, expected, value);
  // Addresses have no names below them.
  requireValue(!(star !== undefined && (isEverything || isIP(host) !== 0)), field, expected, value);
  const number = port === undefined ? undefined : Number(port);
  requireValue(number === undefined || (number > 0 && number < 65_536), field, expected, value);
  return { host, isSuffix, port: number };
}

/** A name in lower case and ASCII, or an address in its usual notation; undefined if it is neither. */
export function normalizedHost(name: string): string | undefined {
  // The same parser as that of clients: it also reads 0x7f.1 as an address.
  if (!URL.canParse(`http://${name}/`)) return undefined;
  const url = new URL(`http://${name}/`);
  if (url.pathname !== "/" || url.port !== "" || url.username !== "" || url.search !== "") return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return host === "" ? undefined : host;
}

/** Whether a list has an entry for a host, which `normalizedHost()` gave, and a port. */
export function isAllowedHost(list: readonly AllowedHost[], host: string, port: number): boolean {
  return list.some(
    (entry) =>
      (entry.port === undefined ? defaultPorts.includes(port) : entry.port === port) &&
      matchesHost(entry, host),
  );
}

function matchesHost({ host, isSuffix }: AllowedHost, name: string): boolean {
  if (!isSuffix) return name === host;
  return host === "" || name.endsWith(`.${host}`);
}

/** What a request may reach of what the operator allows, and the entries of which nothing is allowed. */
export interface NarrowedHosts {
  readonly allow: readonly string[];
  readonly refused: readonly string[];
}

/**
 * Narrows the hosts that a request asks for to those that `allowed` contains. An entry without a port takes the ports
 * of the matching entry in `allowed`. Throws for entries that are not hosts.
 */
export function narrowAllowedHosts(allowed: readonly string[], requested: readonly string[]): NarrowedHosts {
  const outer = parseAllowedHosts("allowed", allowed);
  const inner = parseAllowedHosts("requested", requested);
  const allow = new Set<string>();
  const refused: string[] = [];
  for (const [at, entry] of inner.entries()) {
    const common = outer.flatMap((it) => commonHost(it, entry) ?? []);
    for (const it of common) allow.add(shownHost(it));
    if (common.length === 0) refused.push(requested[at] as string);
  }
  return { allow: [...allow], refused };
}

function commonHost(outer: AllowedHost, inner: AllowedHost): AllowedHost | undefined {
  if (!containsHost(outer, inner)) return undefined;
  if (inner.port === undefined || inner.port === outer.port) return { ...inner, port: outer.port };
  return outer.port === undefined && defaultPorts.includes(inner.port) ? inner : undefined;
}

function containsHost(outer: AllowedHost, inner: AllowedHost): boolean {
  if (!inner.isSuffix) return matchesHost(outer, inner.host);
  if (!outer.isSuffix) return false;
  return outer.host === "" || inner.host === outer.host || inner.host.endsWith(`.${outer.host}`);
}

function shownHost({ host, isSuffix, port }: AllowedHost): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const pattern = isSuffix ? (host === "" ? "*" : `*.${name}`) : name;
  return port === undefined ? pattern : `${pattern}:${port}`;
}
