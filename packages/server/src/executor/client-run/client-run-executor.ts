// Tools of the API that the client runs: `shell`, `local_shell` and `apply_patch`. The model sees each as a function; its
// calls are returned as the items that clients expect.

import type { JsonObject, JsonSchema } from "rondo";
import { invalidRequest } from "../../protocol/api-error.ts";
import type { ToolDefinition } from "../../protocol/tools.ts";
import { definedTool } from "../defined-tool.ts";
import type { CallItems, OfferedTool, ToolExecutor } from "../executor.ts";
import { applyPatchItems, localShellItems, shellItems } from "./client-run-items.ts";

interface ClientRunTool {
  /** The type of its definitions, and its name for the model. */
  readonly type: string;
  readonly description: (definition: ToolDefinition) => string;
  readonly parameters: JsonSchema;
  readonly items: CallItems;
  /** Throws an `ApiError` for a definition that the client cannot run. */
  readonly check?: (definition: ToolDefinition, index: number) => void;
}

const timeoutMs = { type: ["integer", "null"], minimum: 1, description: "Time limit in milliseconds." };

const shell: ClientRunTool = {
  type: "shell",
  description: ({ environment }) =>
    `Runs shell commands on the user's computer, one after the other, and gives the output and exit code of each.${skillsOf(environment)}`,
  parameters: {
    type: "object",
    properties: {
      commands: { type: "array", items: { type: "string" }, minItems: 1, description: "Commands to run." },
      timeout_ms: timeoutMs,
      max_output_length: {
        type: ["integer", "null"],
        minimum: 1,
        description: "The most characters of output to return.",
      },
    },
    required: ["commands"],
  },
  items: shellItems,
  check({ environment }, index) {
    const { type = "local" } = Object(environment) as { type?: unknown };
    if (type === "local") return;
    throw invalidRequest(
      `tools[${index}].environment`,
      `tools[${index}].environment: expected {"type": "local"} or nothing, got the type ${JSON.stringify(type)}. This server has no containers, so that only the client can run 'shell': leave the environment out, or give the server an executor for it.`,
      "unsupported_tool",
    );
  },
};

const localShell: ClientRunTool = {
  type: "local_shell",
  description: () => "Runs a program on the user's computer, and gives its output.",
  parameters: {
    type: "object",
    properties: {
      command: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        description: 'The program and its arguments, such as ["bash", "-lc", "ls"].',
      },
      env: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "Environment variables to set.",
      },
      timeout_ms: timeoutMs,
      working_directory: { type: ["string", "null"], description: "The folder to run it in." },
    },
    required: ["command"],
  },
  items: localShellItems,
};

const applyPatch: ClientRunTool = {
  type: "apply_patch",
  description: () =>
    "Creates, updates or deletes one file. `diff` is in the V4A format: hunks that begin with a line `@@`, in which a line begins with a space (unchanged), `-` (removed) or `+` (added). For create_file every line begins with `+`; delete_file has no diff.",
  parameters: {
    type: "object",
    properties: {
      type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
      path: { type: "string", description: "The file, relative to the workspace." },
      diff: { type: "string", description: "What to change, for create_file and update_file." },
    },
    required: ["type", "path"],
  },
  items: applyPatchItems,
};

export const clientRunExecutors: readonly ToolExecutor[] = [shell, localShell, applyPatch].map(
  (kind): ToolExecutor => ({
    kind: kind.type,
    canExecute: ({ type }) => type === kind.type,
    items: kind.items,
    offer: ({ definitions }) => ({
      tools: definitions.map(({ definition, index }): OfferedTool => {
        kind.check?.(definition, index);
        const { type, parameters, items } = kind;
        const describe = () => ({ name: type, description: kind.description(definition), parameters });
        return {
          tool: definedTool(definition, index, { describe }, async () => ""),
          index,
          type,
          runsHere: false,
          identity: { host: "client", label: type, name: type },
          items,
        };
      }),
    }),
  }),
);

const maxSkills = 50;

/** The skills of a local environment: files on the client's side that the model may read with the shell. */
function skillsOf(environment: unknown): string {
  const { skills } = Object(environment) as { skills?: unknown };
  if (!Array.isArray(skills)) return "";
  const lines = (skills as JsonObject[]).slice(0, maxSkills).map((skill) => {
    const { name, description, path } = Object(skill) as Record<string, unknown>;
    return `- ${String(name)}: ${String(description)} (${String(path)})`;
  });
  return lines.length === 0
    ? ""
    : `\n\nSkills, each described in a file that you can read:\n${lines.join("\n")}`;
}
