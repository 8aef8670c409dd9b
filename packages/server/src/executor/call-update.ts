// What a running call reports, checked: plain JSON, and no event that would pass for one of the server's own.

import type { JsonObject } from "rondo";
import type { CallUpdate } from "./executor.ts";

/** Events about items of executors. The server's own have one name between `response.` and the last dot. */
const ownEvent =
  /^response\.(?:[^.]+[.:].+|(?:code_interpreter|file_search|image_generation|shell|web_search)_call(?:_code|_output)?)\.[^.]+$/;

/** A copy of an update. Throws if the stream or the store cannot take it. */
export function checkUpdate(value: unknown): CallUpdate {
  const { event, item, keep } = toJson(value, "an update");
  const { type } = Object(event) as { type?: unknown };
  if (event !== undefined && !(typeof type === "string" && ownEvent.test(type)))
    throw new Error(
      `An executor's event needs a type such as 'response.acme.search_call.searching', got ${JSON.stringify(type)}.`,
    );
  if (item !== undefined && !isObject(item)) throw new Error("The item of an update must be an object.");
  return {
    ...(event !== undefined && { event: event as NonNullable<CallUpdate["event"]> }),
    ...(item !== undefined && { item }),
    ...(keep !== undefined && { keep }),
  };
}

/** A copy of an object as JSON has it. Throws for anything else. */
export function toJson(value: unknown, what: string): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value) ?? "null");
  if (isObject(copy)) return copy;
  throw new Error(`Expected ${what} as an object, got ${JSON.stringify(copy)}.`);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
