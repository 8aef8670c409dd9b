// Items of an executor's own type.

import type { JsonObject, JsonValue } from "rondo";
import type { ExtensionEvent } from "../protocol/events.ts";
import type { ExtensionType } from "../protocol/items.ts";
import type { CallItems, CallOutcome, ShownCall } from "./executor.ts";

/**
 * Items of the type `type`, such as `acme.search_call`: with `name`, `arguments`, `output` and `error`, and the fields
 * that updates and the result of a call set. Their events are `response.TYPE.in_progress`, `completed` and `failed`.
 * `idPrefix`: what their ids begin with. Default: `call`.
 */
export function callItems(type: ExtensionType, { idPrefix = "call" }: { idPrefix?: string } = {}): CallItems {
  const event = (name: string) => ({ type: `response.${type}.${name}` }) as { type: ExtensionEvent["type"] };
  return {
    type,
    idPrefix,
    item: (call, outcome) => ({ type, id: call.id, ...fieldsOf(call, outcome) }),
    begun: () => [event("in_progress")],
    ended: (_, outcome) => [event("error" in outcome ? "failed" : "completed")],
    read: ({ name, arguments: text, output, error, approval_request_id: approvalId }) => ({
      name: typeof name === "string" ? name : "",
      arguments: typeof text === "string" ? text : "{}",
      result: textOf(error) ?? textOf(output),
      approvalId: typeof approvalId === "string" ? approvalId : undefined,
    }),
  };
}

function fieldsOf(call: ShownCall, outcome: CallOutcome | undefined): JsonObject {
  const status = !outcome ? "in_progress" : "error" in outcome ? "failed" : "completed";
  return {
    output: null,
    error: null,
    ...call.fields,
    ...outcome,
    status,
    name: call.name,
    arguments: call.arguments,
    ...(call.approvalId !== undefined && { approval_request_id: call.approvalId }),
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
