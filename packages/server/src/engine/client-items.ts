// Normalizes items of clients: calls get the model's names for their tools, and items of other servers become calls
// and messages.

import type { JsonObject, JsonValue } from "rondo";
import { argumentsOfItem, outputOfItem } from "../executor/client-run/client-run-items.ts";
import { textOfSearch } from "../executor/tool-search/tool-search-executor.ts";
import { type ClientTool, clientTool, flatName } from "../protocol/client-tools.ts";
import { readItemId } from "../protocol/ids.ts";
import type { InputItem } from "../protocol/items.ts";
import type { ToolDefinition } from "../protocol/tools.ts";
import type { Entry } from "./conversation.ts";

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Entries that `toMessages` can read. `tools` are those that the model is offered. */
export function readableEntries(
  entries: readonly Entry[],
  tools: readonly ToolDefinition[],
): readonly Entry[] {
  if (entries.every(({ item }) => item.type === "message")) return entries;
  const items = byCallIds(entries.map(({ item }) => item as unknown as Fields));
  const answered = new Set(items.flatMap((item) => callIdOf(item, /_output$/)));
  // A foreign call without its output, or an output without its call, tells the model nothing.
  const pairs = new Set(items.flatMap((item) => callIdOf(item, /_call$/)).filter((id) => answered.has(id)));
  return entries.map((entry, index) => {
    const item = readable(items[index] as Fields, tools, pairs);
    return item === (entry.item as unknown) ? entry : { ...entry, item: item as InputItem };
  });
}

/** Clients answer a `local_shell_call` by the id of the item or of the call; here by that of the call. */
function byCallIds(items: readonly Fields[]): readonly Fields[] {
  const calls = items.filter(({ type }) => type === "local_shell_call");
  if (calls.length === 0) return items;
  const callIds = new Map(calls.map(({ id, call_id: callId }) => [id, callId ?? id]));
  return items.map((item) => {
    const { type, id, call_id: callId } = item;
    if (type === "local_shell_call") return { ...item, call_id: callId ?? id };
    const known = type === "local_shell_call_output" ? callIds.get(callId) : undefined;
    return known === undefined ? item : { ...item, call_id: known };
  });
}

function readable(item: Fields, tools: readonly ToolDefinition[], pairs: ReadonlySet<string>): Fields {
  const { type, call_id: id, namespace } = item;
  switch (type) {
    case "function_call":
    case "custom_tool_call":
      return typeof namespace === "string" ? { ...item, name: modelName(item, namespace, tools) } : item;
    case "message":
    case "function_call_output":
    case "custom_tool_call_output":
      return item;
    case "agent_message":
      return { type: "message", role: "user", content: item["content"] ?? "" };
    default:
      if (typeof id !== "string" || !(pairs.has(id) || isClientRun(type, id))) return item;
      return callIdOf(item, /_call$/).length > 0
        ? foreignCall(item, id)
        : {
            type: "function_call_output",
            call_id: id,
            output:
              outputOfItem(item as JsonObject) ?? textOfSearch(item as JsonObject) ?? item["output"] ?? "",
          };
  }
}

/** The model's name for a tool of a namespace; the full name if the tool is no longer offered. */
function modelName({ type, name }: Fields, namespace: string, tools: readonly ToolDefinition[]): string {
  const kind: ClientTool["type"] = type === "custom_tool_call" ? "custom" : "function";
  const found = tools.find((tool) => {
    const shown = clientTool(tool);
    return shown?.type === kind && shown.namespace === namespace && shown.name === name;
  });
  return found?.name ?? flatName(namespace, typeof name === "string" ? name : "");
}

/** A call of another type, such as `shell_call`, as a function call. */
function foreignCall(item: Fields, callId: string): Fields {
  const { type, id, call_id: _callId, status: _status, ...rest } = item;
  const given = argumentsOfItem(item as JsonObject) ?? rest["action"] ?? rest["arguments"] ?? rest;
  return {
    type: "function_call",
    id,
    call_id: callId,
    name: typeof type === "string" ? type.replace(/_call$/, "") : "",
    arguments: JSON.stringify(given),
  };
}

/** Whether an item is a call of this server's for the client to run, or its output: one without the other is an error. */
function isClientRun(type: JsonValue | undefined, callId: string): boolean {
  if (typeof type !== "string" || readItemId(callId) === undefined) return false;
  return /^(?:shell|local_shell|apply_patch)_call(?:_output)?$/.test(type);
}

function callIdOf({ type, call_id: id }: Fields, kind: RegExp): string[] {
  return typeof id === "string" && typeof type === "string" && kind.test(type) ? [id] : [];
}
