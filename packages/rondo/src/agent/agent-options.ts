// The options of agents, and their checks.

import { ContextPool } from "../context/context-pool.ts";
import { ContextQueue } from "../context/context-queue.ts";
import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkIterable, requireType, requireValue } from "../error/check.ts";
import { UnregisteredToolError } from "../error/lookup-errors.ts";
import type { Hook } from "../hook/hook.ts";
import type { ModelProvider } from "../model/provider.ts";
import type { Registry } from "../registry/registry.ts";
import type { RegistryOption } from "../registry/registry-option.ts";
import { AnyTool } from "../tool/tool.ts";
import type { OnTrace } from "../trace/run-trace.ts";
import type { Turn } from "../turn/turn.ts";
import { withSubtools } from "../turn/turn-options.ts";
import type { ThinkingOptions } from "./thinking.ts";
import type { TurnRetries } from "./turn-retries.ts";

export interface AgentOptions<
  T extends AnyTool | string = AnyTool | string,
  M extends ModelProvider | undefined = ModelProvider | undefined,
> extends Omit<ThinkingOptions, "model"> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  name: string;
  /** What it is for. Default: empty. */
  description?: string;
  /** The model that answers `ask()`. Default: none, the agent only runs turns. */
  model?: M;
  /** The tools whose turns it runs, with all their subtools; registered tools also by name. */
  tools: Iterable<T>;
  /** Default: a queue of 10 items. */
  contextQueue?: ContextQueue;
  /** Default: a pool without a limit. */
  contextPool?: ContextPool;
  /** Labels by which global hooks choose. Default: none. */
  tags?: Iterable<string>;
  /** Further attempts for turns whose tool throws, before it has yielded a value. Default: none, one attempt. */
  retries?: TurnRetries;
  /** How many turns run at once. Default: 1. */
  concurrency?: number;
  /** Receives what happens in its runs, and when: see `TraceEvent`. Default: nobody listens, and nothing is recorded. */
  onTrace?: OnTrace;
  /** Where it is registered: a registry, or `false` for nowhere. Default: the process's default registry. */
  registry?: RegistryOption;
}

export interface RunOptions {
  /** Aborts the run; its reason is thrown. */
  signal?: AbortSignal;
  /** Whether to wait at an empty queue, until a completion check or an abort ends the run. Default: false. */
  wait?: boolean;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
}

export interface AgentBranchOptions<T extends AnyTool | string = AnyTool | string> {
  /** Default: the same description. */
  description?: string;
  /** Default: the same tools. The tools of all queued turns must be among them. */
  tools?: Iterable<T>;
  /** Default: all hooks of this agent; `null` or an empty list for none. */
  hooks?: readonly Hook[] | null;
}

/** The given tools, with names resolved. Throws before anything has changed. */
export function readTools(tools: unknown, registry: Registry): AnyTool[] {
  const list = checkIterable("tools", tools, "a list of tools, or of names of registered tools");
  return list.map((tool, index) => {
    if (typeof tool === "string") return registry.tools.get(tool);
    requireType(tool instanceof AnyTool, `tools[${index}]`, "a tool made by tool()", tool);
    return checkIsCurrent(tool, index);
  });
}

/** A registered tool must be the one that its registry has under that name. */
function checkIsCurrent(tool: AnyTool, index: number): AnyTool {
  if (!tool.isRegistered) return tool;
  const { tools } = tool.registry;
  if (!tools.has(tool.name))
    throw new UnregisteredToolError(
      tool.name,
      tools.all().map(({ name }) => name),
    );
  const hint =
    "The registered tool of that name is not the instance given: it was defined again. Use the new one.";
  const expected = `the tool '${tool.name}' of its registry`;
  requireValue(tools.get(tool.name) === tool, `tools[${index}]`, expected, tool, hint);
  return tool;
}

/** Tools and their subtools by full name. Subtools that are defined later are not included. */
export function byName(tools: readonly AnyTool[]): Map<string, AnyTool> {
  const named = new Map<string, AnyTool>();
  for (const tool of tools.flatMap(withSubtools)) {
    const other = named.get(tool.name);
    const hint = `Duplicate tool name: ${tool.name}.`;
    requireValue(other === undefined || other === tool, "tools", "each tool name once", tool.name, hint);
    named.set(tool.name, tool);
  }
  return named;
}

export function checkContextQueue(value: unknown): ContextQueue {
  requireType(value instanceof ContextQueue, "contextQueue", "a ContextQueue", value);
  return value;
}

export function checkContextPool(value: unknown): ContextPool {
  requireType(value instanceof ContextPool, "contextPool", "a ContextPool", value);
  return value;
}

/** An agent runs only turns of its own tools. */
export function checkAccepted(turn: Turn, tools: ReadonlyMap<string, AnyTool>, agentName: string): void {
  const known = tools.get(turn.tool.name);
  if (known === turn.tool) return;
  const names = [...tools.keys()].join(", ") || "none";
  throw new InvalidArgumentError({
    field: "turn.tool",
    expected: `one of the tools of the agent '${agentName}' (${names})`,
    received: turn.tool.name,
    hint: known
      ? "The agent has another tool of that name, not the instance given."
      : "Add the tool to the agent first.",
  });
}
