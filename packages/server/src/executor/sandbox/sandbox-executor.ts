// `code_interpreter`, and `shell` in a container: tools whose calls the server runs in a sandbox.

import type { JsonSchema, ToolContext } from "rondo";
import { ApiError, invalidRequest } from "../../protocol/api-error.ts";
import type { ToolDefinition } from "../../protocol/tools.ts";
import { textOfCommand } from "../client-run/client-run-items.ts";
import { definedTool } from "../defined-tool.ts";
import type {
  CallItems,
  CallUpdate,
  OfferedTool,
  OfferRequest,
  ToolExecutor,
  ToolOffer,
  ToolResult,
} from "../executor.ts";
import { citationsIn } from "./citations.ts";
import { codeInterpreterItems } from "./code-interpreter-items.ts";
import { type ContainerPlan, type FileSource, planContainer } from "./container-plan.ts";
import type { Containers } from "./containers.ts";
import { type ContainerChoice, codeContainer, isContainerShell, shellContainer } from "./definition.ts";
import { runCode } from "./run-code.ts";
import { runCommands, type ShellInput } from "./run-commands.ts";
import type { SandboxHost } from "./sandbox-host.ts";
import { containerShellItems } from "./shell-items.ts";
import { describeCode, describeShell } from "./tool-descriptions.ts";

/** Time to open a container, to copy files into it, and to wait for others, beyond the time of the code itself. */
const overheadMs = 60_000;

interface SandboxTool {
  /** The type of its definitions. */
  readonly type: "code_interpreter" | "shell";
  readonly canExecute: (definition: ToolDefinition) => boolean;
  readonly choice: (definition: ToolDefinition, index: number) => ContainerChoice | undefined;
  /** Where the request says which container it is. */
  readonly field: "container" | "environment";
  readonly items: CallItems;
  readonly make: (parts: ToolParts) => MadeTool;
}

interface ToolParts {
  readonly plan: ContainerPlan;
  readonly containers: Containers;
  readonly host: SandboxHost;
  readonly include: readonly string[];
}

interface MadeTool {
  readonly name: string;
  /** The name where that one is taken. */
  readonly longName: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly items: CallItems;
  /** Reported when a call begins to run. Default: nothing. */
  readonly started?: CallUpdate;
  readonly run: (input: Record<string, unknown>, signal: AbortSignal) => Promise<Omit<ToolResult, "callId">>;
}

const codeTool: SandboxTool = {
  type: "code_interpreter",
  canExecute: ({ type }) => type === "code_interpreter",
  choice: codeContainer,
  field: "container",
  items: codeInterpreterItems(),
  make: ({ plan, containers, host, include }) => {
    const { language: name, tools } = containers.options;
    const showsOutputs = include.includes("code_interpreter_call.outputs");
    return {
      name,
      longName: "code_interpreter",
      description: describeCode(containers.options, host.settings.packages, plan.files),
      parameters: {
        type: "object",
        properties: { code: { type: "string", description: "The code to run." } },
        required: ["code"],
      },
      items: codeInterpreterItems({ containerId: plan.id, showsOutputs, name }),
      started: { event: { type: "response.code_interpreter_call.interpreting" } },
      run: (input, signal) =>
        plan.use((use, note) => runCode(String(input["code"]), { use, tools, note, signal }), signal),
    };
  },
};

const shellTool: SandboxTool = {
  type: "shell",
  canExecute: isContainerShell,
  choice: shellContainer,
  field: "environment",
  items: containerShellItems(),
  make: ({ plan, containers, host }) => ({
    name: "shell",
    longName: "container_shell",
    description: describeShell(containers.options, host.settings.packages, plan.files),
    parameters: {
      type: "object",
      properties: {
        commands: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: 100,
          description: "Commands to run.",
        },
        timeout_ms: { type: ["integer", "null"], minimum: 1, description: "Time limit in milliseconds." },
        max_output_length: {
          type: ["integer", "null"],
          minimum: 1,
          description: "The most characters of output to return for each command.",
        },
      },
      required: ["commands"],
    },
    items: containerShellItems(plan.id),
    run: (input, signal) => {
      const { tools } = containers.options;
      const parts = { tools, signal, describe: textOfCommand };
      return plan.use(
        (use, note) => runCommands(input as unknown as ShellInput, { use, note, ...parts }),
        signal,
      );
    },
  }),
};

/** The executors of the sandbox. `files`: where `file_ids` come from. */
export function sandboxExecutors(host: SandboxHost, files: FileSource | undefined): readonly ToolExecutor[] {
  const [code, shell] = [codeTool, shellTool].map(
    (kind): ToolExecutor => ({
      kind: kind.type,
      canExecute: kind.canExecute,
      items: kind.items,
      offer: (request) => (request.definitions.length === 0 ? noTools : offer(kind, request, host, files)),
    }),
  );
  // One of them closes what both use.
  return [{ ...(code as ToolExecutor), close: () => host.close() }, shell as ToolExecutor];
}

const noTools: ToolOffer = { tools: [] };

async function offer(
  kind: SandboxTool,
  request: OfferRequest,
  host: SandboxHost,
  files: FileSource | undefined,
): Promise<ToolOffer> {
  const { definitions, owner, responseId, history = [], include = [] } = request;
  const [place, second] = definitions;
  if (second)
    throw invalidRequest(
      `tools[${second.index}]`,
      `tools[${second.index}]: expected one tool of the type '${kind.type}', got two. A request has one container for each.`,
    );
  if (!place) return noTools;
  const { definition, index } = place;
  const at = `tools[${index}].${kind.field}`;
  const containers = await host.containers(owner, `tools[${index}]`);
  const choice = kind.choice(definition, index);
  if (!choice) return noTools;
  const plan = await planContainer(containers, files, choice, { owner, responseId, history }, at);
  const made = kind.make({ plan, containers, host, include });
  const timeoutMs = containers.options.limits.timeoutMs + overheadMs;
  const toolOf = (name: string) => {
    const { description, parameters } = made;
    const describe = () => ({ name, description, parameters });
    return definedTool(definition, index, { describe, timeoutMs }, async function* (input, context) {
      return yield* run(made, input, context);
    });
  };
  const offered: OfferedTool = {
    tool: toolOf(made.name),
    prefixed: () => toolOf(made.longName),
    index,
    type: kind.type,
    runsHere: true,
    identity: { host: "sandbox", label: kind.type, name: made.name },
    items: made.items,
  };
  return {
    tools: [offered],
    annotate: (text) => citationsIn(text, plan.id, containers.pathsOf(plan.id)),
    hold: () => {
      void plan.refresh().catch(() => {}); // only citations need it
      return () => {};
    },
  };
}

/** In the shape of MCP's results, which say themselves whether they are errors. */
async function* run(made: MadeTool, input: Record<string, unknown>, context: ToolContext) {
  if (made.started) yield made.started;
  try {
    const { output, isError = false, item } = await made.run(input, context.signal);
    return { content: [{ type: "text", text: output }], isError, ...(item && { item }) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    return { content: [{ type: "text", text: failureText(error) }], isError: true };
  }
}

/** What the model reads of a call that could not be run. Our own faults are not its business. */
function failureText(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  if (error instanceof ApiError || knownFailures.has(code)) return `The call was not run. ${String(message)}`;
  if (error instanceof Error) return `The call could not be finished: ${error.message}`;
  return "The call could not be finished.";
}

const knownFailures = new Set<unknown>(["sandbox_limit", "sandbox_closed", "sandbox_unavailable"]);
