// An MCP server that a request names by its URL.

import { createHash } from "node:crypto";
import { invalidRequest } from "../../protocol/api-error.ts";
import type { ToolDefinition } from "../../protocol/tools.ts";

/** The definition of a server in a request, after validation. */
export type ServerDefinition = ToolDefinition & {
  readonly server_label: string;
  readonly server_url?: string | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly authorization?: string | null;
};

export interface RequestServer {
  readonly label: string;
  readonly url: URL;
  /** Including the authorization. Never shown or logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** A hash of the owner, the server and the credentials. */
  readonly key: string;
}

/** Headers of the connection, which clients must not set. */
const ownHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|proxy-.*)$/i;

/** Throws an `ApiError` for invalid values. `at` is the path of the definition. */
export function readRequestServer(definition: ServerDefinition, owner: string, at: string): RequestServer {
  const { server_label: label, server_url: address } = definition;
  const url = URL.parse(address ?? "");
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalidRequest(
      `${at}.server_url`,
      `${at}.server_url: expected an http or https URL, such as https://example.org/mcp, got ${shown(address)}.`,
    );
  const headers = headersOf(definition, at);
  const facts = [owner, label, url.href, Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))];
  const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
  return { label, url, headers, key };
}

/** A URL may contain a password. */
function shown(address: string | null | undefined): string {
  return address?.includes("@") ? "(hidden)" : JSON.stringify(address);
}

function headersOf({ headers, authorization }: ServerDefinition, at: string): Record<string, string> {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (ownHeaders.test(name)) continue;
    try {
      made.set(name, value);
    } catch {
      // Without the value: it may be a secret.
      throw invalidRequest(
        `${at}.headers`,
        `${at}.headers: expected names and values that a header may have, got others in ${JSON.stringify(name)}.`,
      );
    }
  }
  if (authorization) {
    try {
      made.set("authorization", /^\w+ ./.test(authorization) ? authorization : `Bearer ${authorization}`);
    } catch {
      throw invalidRequest(
        `${at}.authorization`,
        `${at}.authorization: expected a token that a header may have, got one with other characters.`,
      );
    }
  }
  return Object.fromEntries(made);
}
