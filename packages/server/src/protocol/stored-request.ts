// The request as it is stored beside its response: all but its input, as versioned JSON.

import type { JsonObject } from "rondo";
import type { CreateRequest } from "./create-request.ts";
import { withoutCredentials } from "./credentials.ts";

/** A request without its input, which the store keeps as items. */
export type RequestOptions = Omit<CreateRequest, "input">;

const version = 1;

/** The request as JSON, for the store, without the credentials for MCP servers. */
export function toStoredRequest({ input: _kept, ...request }: CreateRequest): JsonObject {
  const known = Object.entries(request).filter(([, value]) => value !== undefined);
  const stored = Object.fromEntries(known) as JsonObject;
  return { version, ...stored, tools: request.tools.map(withoutCredentials) };
}

/** The request from the store. Throws for a version that is not known here. */
export function fromStoredRequest({ version: found, ...stored }: JsonObject): RequestOptions {
  if (found !== version)
    throw new Error(
      `The stored request has version ${JSON.stringify(found)}, expected ${version}. Was the store written by a newer server?`,
    );
  return stored as unknown as RequestOptions;
}
