// `shell_call` items of commands that the server ran in a container, each followed by its `shell_call_output`.

import type { JsonObject, JsonValue } from "rondo";
import type { Announcement, CallEvent, CallItems, CallOutcome, ShownCall } from "../executor.ts";

const shellCallType = "shell_call";

/** The output of one command, as the API has it. */
export type CommandOutput = JsonObject & {
  stdout: string;
  stderr: string;
  outcome: { type: "exit"; exit_code: number } | { type: "timeout" };
};

export function containerShellItems(containerId = ""): CallItems {
  return {
    type: shellCallType,
    idPrefix: "sh",
    item: (call, outcome) => {
      const { commands, timeout_ms = null, max_output_length = null } = inputOf(call);
      return {
        type: shellCallType,
        id: call.id,
        call_id: call.callId ?? call.id,
        action: { commands: commandsIn(commands), timeout_ms, max_output_length },
        environment: {
          type: "container_reference",
          container_id: (call.fields?.["container_id"] as string | undefined) ?? containerId,
        },
        status: outcome ? "completed" : "in_progress",
      };
    },
    begun: (call) =>
      commandsIn(inputOf(call)["commands"]).flatMap((command, command_index): CallEvent[] => [
        { type: "response.shell_call_command.added", command_index, command: "" },
        { type: "response.shell_call_command.delta", command_index, delta: command },
        { type: "response.shell_call_command.done", command_index, command },
      ]),
    ended: () => [],
    followUp: (call, outcome) => outputItem(call, outcome),
    // The conversation pairs them with their outputs itself.
    read: () => undefined,
  };
}

function outputItem(call: ShownCall, outcome: CallOutcome): Omit<Announcement, "isKnown"> {
  const given = call.fields?.["output"];
  const output: JsonValue[] = Array.isArray(given) ? given : [failed(outcome)];
  const item = {
    type: "shell_call_output",
    id: "",
    call_id: call.callId ?? call.id,
    max_output_length: inputOf(call)["max_output_length"] ?? null,
  } as const;
  return {
    idPrefix: "sho",
    added: { ...item, output: [], status: "in_progress" },
    events: output.flatMap((it, command_index): CallEvent[] => {
      const { stdout, stderr } = it as CommandOutput;
      const delta = { ...(stdout !== "" && { stdout }), ...(stderr !== "" && { stderr }) };
      return [
        { type: "response.shell_call_output_content.delta", command_index, delta },
        { type: "response.shell_call_output_content.done", command_index, output: [it] },
      ];
    }),
    done: { ...item, output, status: "completed" },
  };
}

/** A call that could not run its commands at all. */
function failed(outcome: CallOutcome): CommandOutput {
  const stderr = "error" in outcome ? outcome.error : "";
  return {
    stdout: "output" in outcome ? outcome.output : "",
    stderr,
    outcome: { type: "exit", exit_code: 1 },
  };
}

function commandsIn(commands: JsonValue | undefined): string[] {
  return Array.isArray(commands) ? commands.map(String) : [];
}

function inputOf({ arguments: text }: ShownCall): JsonObject {
  try {
    return Object(JSON.parse(text)) as JsonObject;
  } catch {
    return {};
  }
}
