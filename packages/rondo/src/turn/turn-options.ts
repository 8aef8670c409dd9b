// What a turn and its runs can be told, and the checks of that.

import type { Agent } from "../agent/agent.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkGrace, checkOptions, checkPlainObject, checkSignal } from "../error/check.ts";
import { HookList } from "../hook/hook-list.ts";
import { copyData, freezeData } from "../json/copy.ts";
import { defaultRegistry, Registry } from "../registry/registry.ts";
import { AnyTool } from "../tool/tool.ts";

export interface TurnOptions {
  /** Time for the tool's code. Default: the tool's own, else 60,000; `Infinity` for no limit. */
  timeoutMs?: number;
  /** Notes of your own, which travel with the turn. Default: empty. */
  metadata?: Record<string, unknown>;
  /** Words by which global hooks choose. Default: none. */
  tags?: Iterable<string>;
  /** Where a tool is looked up by name, and whose hooks are fired. Default: the tool's, or the process's own. */
  registry?: Registry;
  /** Who made the input. A model cannot set fixed arguments: what it gives for them is dropped. Default: `code`. */
  source?: "code" | "model";
  /** The id of the model's call, for the tool to see. */
  callId?: string;
  /** The turn's identity and the tool's idempotency key. Default: a new random one. */
  uuid?: string;
}

export interface RunTurnOptions {
  /** Aborts the turn; its reason is thrown. */
  signal?: AbortSignal;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
  /** On whose behalf it runs: the tool gets this agent's context, and its turn hooks fire. Agents set it. */
  agent?: Agent;
}

/** Where the tools of saved turns and agents are looked for. */
export interface ToolScope {
  /** Looked through first, for tools that are not registered. */
  tools?: readonly AnyTool[];
  /** Default: the process's default registry. */
  registry?: Registry;
}

export function checkTurnOptions(options: TurnOptions): void {
  checkOptions("options", options, ["timeoutMs", "metadata", "tags", "registry", "source", "callId", "uuid"]);
  checkRegistry(options.registry);
  if (options.source !== undefined && options.source !== "code" && options.source !== "model")
    throw new InvalidArgumentError({
      field: "source",
      expected: '"code" or "model"',
      received: options.source,
    });
}

export function checkRunOptions(options: RunTurnOptions): RunTurnOptions {
  checkOptions("options", options, ["signal", "graceMs", "agent"]);
  checkSignal("signal", options.signal);
  if (options.graceMs !== undefined) checkGrace("graceMs", options.graceMs);
  const { agent } = options;
  // `turn/` knows an agent by what it needs of it.
  if (agent !== undefined && !((agent as Partial<Agent> | null)?.turnHookList instanceof HookList))
    throw new InvalidTypeError({ field: "agent", expected: "an Agent", received: agent });
  return options;
}

export function checkScope({ tools, registry }: ToolScope): void {
  checkRegistry(registry);
  if (tools === undefined) return;
  if (typeof (tools as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== "function")
    throw new InvalidTypeError({ field: "tools", expected: "a list of tools", received: tools });
  for (const tool of tools)
    if (!(tool instanceof AnyTool))
      throw new InvalidTypeError({ field: "tools", expected: "tools made by tool()", received: tool });
}

function checkRegistry(registry: unknown): void {
  if (registry === undefined || registry instanceof Registry) return;
  throw new InvalidTypeError({ field: "registry", expected: "a Registry", received: registry });
}

/** The tool itself, or the one of that name. */
export function findTool(tool: unknown, { tools = [], registry = defaultRegistry }: ToolScope): AnyTool {
  if (tool instanceof AnyTool) return tool;
  if (typeof tool !== "string")
    throw new InvalidTypeError({ field: "tool", expected: "a tool, or the name of one", received: tool });
  for (const candidate of tools) {
    const found = withSubtools(candidate).find(({ name }) => name === tool);
    if (found) return found;
  }
  return registry.tools.get(tool);
}

/** A tool and everything below it. */
export function withSubtools(tool: AnyTool): AnyTool[] {
  return [tool, ...tool.subtools.flatMap(withSubtools)];
}

/** A copy of an input that neither the caller nor a hook can change behind the turn's back. */
export function ownInput(input: unknown): Readonly<Record<string, unknown>> {
  return freezeData(copyData(checkPlainObject("input", input)));
}
