// `shell_call`, `local_shell_call` and `apply_patch_call` items: calls of the API's tools that the client runs.

import type { JsonObject, JsonValue } from "rondo";
import type { ExtensionType } from "../../protocol/items.ts";
import type { CallEvent, CallItems, CallOutcome, ShownCall } from "../executor.ts";

/** Items of a type. `fieldsOf`: the fields that come from the arguments, which fit the tool's schema. */
function clientRunItems(
  type: ExtensionType,
  idPrefix: string,
  fieldsOf: (input: JsonObject) => JsonObject,
  begun: (input: JsonObject) => readonly CallEvent[] = () => [],
): CallItems {
  return {
    type,
    idPrefix,
    item: (call: ShownCall, outcome?: CallOutcome) => ({
      type,
      id: call.id,
      call_id: call.callId ?? "",
      ...fieldsOf(inputOf(call)),
      status: outcome ? "completed" : "in_progress",
    }),
    begun: (call) => begun(inputOf(call)),
    ended: () => [],
    // The conversation pairs them with their outputs itself.
    read: () => undefined,
  };
}

export const shellItems: CallItems = clientRunItems(
  "shell_call",
  "sh",
  (input) => ({
    action: {
      commands: commandsOf(input),
      timeout_ms: input["timeout_ms"] ?? null,
      max_output_length: input["max_output_length"] ?? null,
    },
    environment: { type: "local" },
  }),
  (input) =>
    commandsOf(input).flatMap((command, command_index) => [
      { type: "response.shell_call_command.added", command_index, command: "" },
      { type: "response.shell_call_command.delta", command_index, delta: command },
      { type: "response.shell_call_command.done", command_index, command },
    ]),
);

export const localShellItems: CallItems = clientRunItems("local_shell_call", "lsh", (input) => ({
  action: {
    type: "exec",
    command: input["command"] ?? [],
    env: input["env"] ?? {},
    ...(input["timeout_ms"] != null && { timeout_ms: input["timeout_ms"] }),
    ...(input["working_directory"] != null && { working_directory: input["working_directory"] }),
  },
}));

export const applyPatchItems: CallItems = clientRunItems("apply_patch_call", "apc", (input) => {
  const { type = "", path = "", diff = "" } = input;
  return { operation: type === "delete_file" ? { type, path } : { type, path, diff } };
});

function commandsOf({ commands }: JsonObject): string[] {
  return Array.isArray(commands) ? commands.map(String) : [];
}

function inputOf({ arguments: text }: ShownCall): JsonObject {
  return JSON.parse(text) as JsonObject;
}

/** The arguments with which the model made the call of an item; undefined for an item of another type. */
export function argumentsOfItem(item: JsonObject): JsonValue | undefined {
  const { type, action, operation } = item;
  if (type === "shell_call") return action ?? {};
  if (type === "apply_patch_call") return operation ?? {};
  if (type !== "local_shell_call") return undefined;
  const { type: _exec, ...rest } = Object(action) as JsonObject;
  return rest;
}

/** What the model reads of the output that a client sends; undefined for an item of another type. */
export function outputOfItem(item: JsonObject): JsonValue | undefined {
  const { type, output, status } = item;
  if (type === "apply_patch_call_output") {
    const text = typeof output === "string" && output !== "" ? output : undefined;
    return status === "failed"
      ? `The patch failed${text ? `: ${text}` : "."}`
      : (text ?? "The patch was applied.");
  }
  const isOfShell = (part: JsonValue) => typeof part === "object" && part !== null && "stdout" in part;
  if (type !== "shell_call_output" || !Array.isArray(output) || !output.every(isOfShell)) return undefined;
  return output.map((part) => textOfCommand(Object(part) as JsonObject)).join("\n\n");
}

/** What the model reads of the output of one command. */
export function textOfCommand({ stdout, stderr, outcome }: JsonObject): string {
  const { type, exit_code: code } = Object(outcome) as JsonObject;
  const end = type === "timeout" ? "timed out" : `exit code ${typeof code === "number" ? code : "unknown"}`;
  const texts = [stdout, stderr].filter((text): text is string => typeof text === "string" && text !== "");
  return [...texts, `(${end})`].join("\n");
}
