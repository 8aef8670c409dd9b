// The options of turns and their runs, and their checks.

import type { Agent } from "../agent/agent.ts";
import {
  checkGrace,
  checkIterable,
  checkOptions,
  checkPlainObject,
  checkSignal,
  requireType,
  requireValue,
} from "../error/check.ts";
import { HookList } from "../hook/hook-list.ts";
import { copyData, freezeData } from "../json/copy.ts";
import { defaultRegistry, Registry } from "../registry/registry.ts";
import { AnyTool } from "../tool/tool.ts";
import { checkOnTrace } from "../trace/run-trace.ts";
import type { Tracer } from "../trace/trace.ts";

export interface TurnOptions {
  /** Time limit of the tool's code; `Infinity` for none. Default: the tool's, else 60,000. */
  timeoutMs?: number;
  /** Your own data, saved with the turn. Default: empty. */
  metadata?: Record<string, unknown>;
  /** Labels by which global hooks choose. Default: none. */
  tags?: Iterable<string>;
  /** Where a tool is looked up by name, and whose hooks are fired. Default: the tool's, or the process's default. */
  registry?: Registry;
  /** Who made the input. A model cannot set fixed arguments: its values for them are dropped. Default: `code`. */
  source?: "code" | "model";
  /** The id of the model's call, which the tool receives. Default: none. */
  callId?: string;
  /** The turn's identity and the tool's idempotency key. Default: a new random one. */
  uuid?: string;
}

export interface RunTurnOptions {
  /** Aborts the turn; its reason is thrown. */
  signal?: AbortSignal;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
  /** The agent that runs it: the tool gets its context, and its turn hooks fire. Set by agents. */
  agent?: Agent;
  /** Records what happens in the turn, and when. Default: nobody listens. */
  tracer?: Tracer;
}

/** Where the tools of saved turns and agents come from. */
export interface ToolScope {
  /** Unregistered tools. They take precedence. Default: none. */
  tools?: readonly AnyTool[];
  /** Default: the process's default registry. */
  registry?: Registry;
}

export function checkTurnOptions(options: TurnOptions): void {
  checkOptions("options", options, ["timeoutMs", "metadata", "tags", "registry", "source", "callId", "uuid"]);
  checkRegistry(options.registry);
  const { source = "code" } = options;
  requireValue(source === "code" || source === "model", "source", '"code" or "model"', source);
}

export function checkRunOptions(options: RunTurnOptions): RunTurnOptions {
  checkOptions("options", options, ["signal", "graceMs", "agent", "tracer"]);
  checkSignal("signal", options.signal);
  if (options.graceMs !== undefined) checkGrace("graceMs", options.graceMs);
  const { agent } = options;
  // `turn/` must not import `agent/`, so it checks the part that it needs.
  const isAgent = (agent as Partial<Agent> | null | undefined)?.turnHookList instanceof HookList;
  requireType(agent === undefined || isAgent, "agent", "an Agent", agent);
  checkOnTrace("tracer", options.tracer);
  return options;
}

export function checkScope({ tools, registry }: ToolScope): void {
  checkRegistry(registry);
  if (tools === undefined) return;
  for (const tool of checkIterable("tools", tools, "a list of tools"))
    requireType(tool instanceof AnyTool, "tools", "tools made by tool()", tool);
}

function checkRegistry(registry: unknown): void {
  requireType(registry === undefined || registry instanceof Registry, "registry", "a Registry", registry);
}

/** The tool itself, or the tool of that name. */
export function findTool(tool: unknown, { tools = [], registry = defaultRegistry }: ToolScope): AnyTool {
  if (tool instanceof AnyTool) return tool;
  requireType(typeof tool === "string", "tool", "a tool, or the name of one", tool);
  for (const candidate of tools) {
    const found = withSubtools(candidate).find(({ name }) => name === tool);
    if (found) return found;
  }
  return registry.tools.get(tool);
}

/** A tool and all its subtools. */
export function withSubtools(tool: AnyTool): AnyTool[] {
  const { subtools } = tool;
  return subtools.length === 0 ? [tool] : [tool, ...subtools.flatMap(withSubtools)];
}

/** A frozen copy of an input, so that neither the caller nor a hook can change it. */
export function ownInput(input: unknown): Readonly<Record<string, unknown>> {
  return freezeData(copyData(checkPlainObject("input", input)));
}
