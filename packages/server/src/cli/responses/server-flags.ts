// The flags for a Rondo server, and the client made from them.

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

/** Checks the value of a URL flag. */
export function httpUrl(value: string): string {
  const url = URL.parse(value);
  if (url && /^https?:$/.test(url.protocol)) return value;
  throw new InvalidArgumentError("Expected an http or https URL.");
}
