// The frames that clients send: JSON objects with a type.

import type { JsonObject } from "rondo";
import { type ApiError, invalidRequest } from "../../protocol/api-error.ts";
import { parseJson } from "../body.ts";

export type ClientFrame =
  | {
      readonly type: "create";
      /** The body that would be posted over HTTP. */
      readonly body: JsonObject;
      /** Whether the model is called; else the request is only kept for the next one to continue. */
      readonly generates: boolean;
      /** The client's own id, which the events repeat. */
      readonly streamId: string | undefined;
    }
  | { readonly type: "cancel"; readonly responseId: string | undefined }
  | { readonly type: "ignored" };

/** Reads a frame. Throws an `ApiError` (400). */
export function readFrame(data: Buffer): ClientFrame {
  const { value: frame } = parseJson(data, "The frame");
  if (!isObject(frame))
    throw invalidRequest(null, "The frame: expected a JSON object with a type, got something else.");
  switch (frame["type"]) {
    case "response.create":
      return toCreate(frame);
    case "response.cancel":
      return { type: "cancel", responseId: textOf(frame["response_id"]) };
    // Some clients acknowledge a response.
    case "response.processed":
      return { type: "ignored" };
    default:
      throw unknownType(frame["type"]);
  }
}

/** The fields of the request are beside the type, or in `response`. */
function toCreate(frame: JsonObject): ClientFrame {
  const { type: _type, event_id: _eventId, response, ...outer } = frame;
  if (response !== undefined && response !== null && !isObject(response))
    throw invalidRequest("response", "response: expected an object with the fields of the request.");
  const { generate, stream_id: streamId, ...fields } = { ...outer, ...response };
  if (generate !== undefined && generate !== null && typeof generate !== "boolean")
    throw invalidRequest("generate", "generate: expected true or false.");
  const { prompt_cache_options: cache } = fields;
  const isPrewarm = isObject(cache) && cache["prewarm"] === true;
  return {
    type: "create",
    // Over a connection, everything is streamed.
    body: { ...fields, stream: true },
    generates: generate !== false && !isPrewarm,
    streamId: textOf(streamId),
  };
}

function unknownType(type: unknown): ApiError {
  const found = typeof type === "string" ? JSON.stringify(type.slice(0, 60)) : "none";
  return invalidRequest(
    "type",
    `type: expected "response.create" or "response.cancel", got ${found}.`,
    "unknown_frame_type",
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
