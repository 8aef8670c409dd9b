// `code_interpreter_call` items: code that the model wrote and the server ran.

import type { JsonObject, JsonValue } from "rondo";
import type { CallItems, ShownCall } from "../executor.ts";

const codeInterpreterType = "code_interpreter_call";

export interface CodeItemsOptions {
  readonly containerId?: string;
  /** Whether the client asked for `code_interpreter_call.outputs`. */
  readonly showsOutputs?: boolean;
  /** The name of the function that the model calls. */
  readonly name?: string;
}

/**
 * Beside the API's fields an item has `output`, what the model read: later requests need it, whether or not the client
 * asked for `outputs`.
 */
export function codeInterpreterItems(options: CodeItemsOptions = {}): CallItems {
  const { containerId = "", showsOutputs = false, name = "python" } = options;
  const type = codeInterpreterType;
  return {
    type,
    idPrefix: "ci",
    item: (call, outcome) => {
      const { fields } = call;
      const item = {
        type,
        id: call.id,
        code: outcome ? codeOf(call) : "",
        container_id: textOf(fields?.["container_id"]) ?? containerId,
      } as const;
      if (!outcome) return { ...item, outputs: null, status: "in_progress" };
      const output = "error" in outcome ? outcome.error : outcome.output;
      return {
        ...item,
        outputs: showsOutputs ? (fields?.["outputs"] ?? [{ type: "logs", logs: output }]) : null,
        output,
        // The API's word for it, which the types of other items do not have.
        status: ("error" in outcome ? "failed" : "completed") as "completed",
      };
    },
    begun: (call) => [
      { type: "response.code_interpreter_call.in_progress" },
      { type: "response.code_interpreter_call_code.delta", delta: codeOf(call) },
      { type: "response.code_interpreter_call_code.done", code: codeOf(call) },
    ],
    ended: () => [{ type: "response.code_interpreter_call.completed" }],
    read: (item) => ({
      name,
      arguments: JSON.stringify({ code: textOf(item["code"]) ?? "" }),
      result: textOf(item["output"]) ?? logsOf(item["outputs"]),
    }),
  };
}

/** The code of a call; the arguments as they are if they are not valid. */
function codeOf({ arguments: text }: ShownCall): string {
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === "string" ? code : text;
  } catch {
    return text;
  }
}

/** What an item of another server says about its result. */
function logsOf(outputs: JsonValue | undefined): string | undefined {
  if (!Array.isArray(outputs)) return undefined;
  return outputs
    .map((output) => {
      const { type, logs } = Object(output) as JsonObject;
      return type === "logs" ? (textOf(logs) ?? "") : `(${textOf(type) ?? "an output"})`;
    })
    .join("\n");
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
