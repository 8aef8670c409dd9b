// `function_call` and `custom_tool_call` items: calls that the client runs, as it knows the tool.

import type { ClientTool } from "../../protocol/client-tools.ts";
import type { CallItems, ShownCall } from "../executor.ts";

export function functionItems({ type, name, namespace }: ClientTool): CallItems {
  const base = ({ id, callId = "" }: ShownCall) => ({
    id,
    call_id: callId,
    name,
    ...(namespace !== undefined && { namespace }),
  });
  // The conversation knows these items itself: they stand in any Responses API.
  const common = { ended: () => [], read: () => undefined };
  if (type === "custom")
    return {
      ...common,
      type: "custom_tool_call",
      idPrefix: "ctc",
      item: (call, outcome) => ({
        type: "custom_tool_call",
        ...base(call),
        input: outcome ? inputOf(call) : "",
      }),
      begun: (call) => [
        { type: "response.custom_tool_call_input.delta", delta: inputOf(call) },
        { type: "response.custom_tool_call_input.done", input: inputOf(call) },
      ],
    };
  return {
    ...common,
    type: "function_call",
    idPrefix: "fc",
    item: (call, outcome) => ({
      type: "function_call",
      ...base(call),
      arguments: outcome ? call.arguments : "",
      status: outcome ? "completed" : "in_progress",
    }),
    begun: ({ arguments: text }) => [
      { type: "response.function_call_arguments.delta", delta: text },
      { type: "response.function_call_arguments.done", name, arguments: text },
    ],
  };
}

/** The text that a custom tool takes. */
function inputOf({ arguments: text }: ShownCall): string {
  const { input } = JSON.parse(text) as { input?: unknown };
  return typeof input === "string" ? input : JSON.stringify(input ?? "");
}
