// The flags of every command that talks to a Rondo server, and the client that comes of them.

import { type Command, InvalidArgumentError } from "commander";
import { type ApiClient, createApiClient } from "../api-client.ts";
import type { CliIo } from "../cli-io.ts";

export interface ServerFlags {
  readonly server?: string;
  readonly apiKey?: string;
}

const defaultServer = "http://127.0.0.1:4500";

export function addServerFlags(command: Command): Command {
  return command
    .option("--server <url>", `The Rondo server. (RONDO_SERVER; default: ${defaultServer})`, httpUrl)
    .option("--api-key <key>", "Its key. (RONDO_API_KEY)");
}

export function clientFor(io: CliIo, { server, apiKey }: ServerFlags): ApiClient {
  return createApiClient({
    baseUrl: server ?? (io.env["RONDO_SERVER"] || defaultServer),
    apiKey: apiKey ?? (io.env["RONDO_API_KEY"] || undefined),
  });
}

/** The URL itself. Throws for what is not one. */
export function httpUrl(value: string): string {
  const url = URL.parse(value);
  if (url && /^https?:$/.test(url.protocol)) return value;
  throw new InvalidArgumentError("Expected an http or https URL.");
}
