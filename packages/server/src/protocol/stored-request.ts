// The request as it is kept beside a response: all but its input, in a versioned form that outlives a restart.

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

/** The request from the store. Throws when it was written by a version that this one does not know. */
export function fromStoredRequest({ version: found, ...stored }: JsonObject): RequestOptions {
  if (found !== version)
    throw new Error(
      `The stored request has version ${JSON.stringify(found)}, expected ${version}. Was the store written by a newer server?`,
    );
  return { ...absent, ...(stored as unknown as RequestOptions) };
}

/** JSON cannot keep `undefined`, and the engine wants every key. */
const absent = {
  model: undefined,
  instructions: undefined,
  previous_response_id: undefined,
  conversation: undefined,
  allowed_tools: undefined,
  max_tool_calls: undefined,
  max_output_tokens: undefined,
  max_agentic_turns: undefined,
  temperature: undefined,
  top_p: undefined,
  presence_penalty: undefined,
  frequency_penalty: undefined,
  top_logprobs: undefined,
  service_tier: undefined,
  user: undefined,
  safety_identifier: undefined,
  prompt_cache_key: undefined,
};
