// The request as it is stored beside its response: all but its input, as versioned JSON.

import type { JsonObject } from "rondo";
import type { CreateRequest } from "./create-request.ts";
import { withoutCredentials } from "./credentials.ts";

/** A request without its input, which the store keeps as items. */
export type RequestOptions = Omit<CreateRequest, "input">;

const version = 1;

/** The headers by which a request belongs to a trace, as W3C names them. */
export interface RequestTrace {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The request as JSON, for the store, without the credentials for MCP servers; `trace` for a run that comes later. */
export function toStoredRequest(request: CreateRequest, trace?: RequestTrace): JsonObject {
  const stored: Record<string, unknown> = { version };
  for (const [field, value] of Object.entries(request))
    if (value !== undefined && field !== "input") stored[field] = value;
  stored["tools"] = request.tools.map(withoutCredentials);
  if (trace) stored["trace"] = { ...trace };
  return stored as JsonObject;
}

/** The trace that a stored request belongs to; undefined if it is not known. */
export function traceOfStored({ trace }: JsonObject): RequestTrace | undefined {
  return trace as RequestTrace | undefined;
}

/** The request from the store. Throws for a version that is not known here. */
export function fromStoredRequest({ version: found, trace: _trace, ...stored }: JsonObject): RequestOptions {
  if (found !== version)
    throw new Error(
      `The stored request has version ${JSON.stringify(found)}, expected ${version}. Was the store written by a newer server?`,
    );
  return stored as unknown as RequestOptions;
}
