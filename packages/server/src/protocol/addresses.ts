// Who may know where model servers and MCP servers are: on a server without auth everyone who can reach it, as its
// operator; with auth nobody, for owners need not know the network that it is in.

/** The owner of everything on a server without auth. */
export const localOwner = "local";

const hidden = "(hidden)";
const urls = /\bhttps?:\/\/[^\s"'`)]+/gi;
const unknownHost = /\b(ENOTFOUND|EAI_AGAIN) [^\s,;]+?(?=[.,;]?(?:\s|$))/g;
const ipWithPort = /\b\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}\b/g;

export function seesAddresses(owner: string | undefined): boolean {
  return owner === localOwner;
}

/** A text without URLs, and without the host of this address. Default: none in particular. */
export function hideAddress(text: string, address = ""): string {
  const withoutUrls = text
    .replace(urls, (url) => hidden + (/[.,:;]$/.exec(url)?.[0] ?? ""))
    .replace(ipWithPort, hidden)
    .replace(unknownHost, `$1 ${hidden}`);
  const { host, hostname } = URL.parse(address) ?? { host: "", hostname: "" };
  if (host === "") return withoutUrls;
  const withoutHost = withoutUrls.replaceAll(host, hidden);
  // A short name, such as that of a container, may be any word of the text.
  return /[.:]/.test(hostname) ? withoutHost.replaceAll(hostname, hidden) : withoutHost;
}
