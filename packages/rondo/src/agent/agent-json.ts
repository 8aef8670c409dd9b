// An agent as JSON, and back. A saved one is checked completely before it is made anew, because that registers it.

import { ContextPool } from "../context/context-pool.ts";
import { ContextQueue } from "../context/context-queue.ts";
import { checkOptions } from "../error/check.ts";
import type { JsonObject } from "../json/json-value.ts";
import { formatVersion, SavedObject } from "../json/read.ts";
import { chooseRegistry, type RegistryOption } from "../registry/registry-option.ts";
import type { AnyTool } from "../tool/tool.ts";
import { Turn } from "../turn/turn.ts";
import { checkScope, findTool } from "../turn/turn-options.ts";
import type { Agent } from "./agent.ts";
import { type AgentOptions, byName, checkAccepted } from "./agent-options.ts";
import { type ThinkingOptions, thinkingTool } from "./thinking.ts";
import type { Holdings } from "./undo.ts";

/** Where the tools of a saved agent are looked for, and where it is registered. */
export interface AgentScope extends ThinkingOptions {
  /** Looked through first, for tools that are not registered. */
  tools?: readonly AnyTool[];
  /** Where its other tools are and where it is registered; `false` for nowhere. Default: the default registry. */
  registry?: RegistryOption;
}

/** `holdings` is what the agent has, without the doings of a turn that is saved to run again. */
export function writeAgent(agent: Agent, { turns, queue, pool }: Holdings): JsonObject {
  const { mind, contextQueue, contextPool } = agent;
  const currentTurn = agent.currentTurn && pending(agent.currentTurn);
  return {
    version: formatVersion,
    name: agent.name,
    description: agent.description,
    toolNames: agent.tools.map((tool) => tool.name),
    ...(mind && { instructions: mind.instructions }),
    queue: turns.map((turn) => turn.toJSON()),
    currentTurn: currentTurn?.toJSON() ?? null,
    contextQueue: { ...contextQueue.toJSON(), items: queue.map((item) => item.toJSON()) },
    contextPool: { ...contextPool.toJSON(), items: pool.map((item) => item.toJSON()) },
    isPaused: agent.isPaused,
    tags: [...agent.tags],
  };
}

export interface SavedAgent {
  readonly options: AgentOptions;
  readonly queue: readonly Turn[];
  readonly currentTurn: Turn | null;
  readonly isPaused: boolean;
}

export function readAgent(json: unknown, scope: AgentScope): SavedAgent {
  checkOptions("options", scope, [
    "tools",
    "registry",
    "model",
    "instructions",
    "settings",
    "maxToolIterations",
    "maxRepeats",
    "describeContext",
  ]);
  const { registry } = chooseRegistry(scope.registry);
  const { model, describeContext } = scope;
  checkScope({ ...(scope.tools && { tools: scope.tools }) });
  const given = [...(scope.tools ?? []), ...(model ? [thinkingTool] : [])];
  const saved = new SavedObject(json, "agent");

  const tools = saved.strings("toolNames").map((name) => findTool(name, { tools: given, registry }));
  const options: AgentOptions = {
    name: saved.string("name"),
    description: saved.optionalString("description") ?? "",
    tools,
    tags: saved.strings("tags"),
  };
  const instructions = scope.instructions ?? saved.optionalString("instructions");
  if (instructions !== undefined) options.instructions = instructions;
  if (model) options.model = model;
  if (describeContext) options.describeContext = describeContext;
  if (scope.settings) options.settings = scope.settings;
  if (scope.maxToolIterations !== undefined) options.maxToolIterations = scope.maxToolIterations;
  if (scope.maxRepeats !== undefined) options.maxRepeats = scope.maxRepeats;
  if (scope.registry !== undefined) options.registry = scope.registry;
  const [queueJson, poolJson] = [saved.raw("contextQueue"), saved.raw("contextPool")];
  if (queueJson !== undefined)
    options.contextQueue = ContextQueue.fromJSON(queueJson, {
      registry,
      tools: given,
      path: saved.pathOf("contextQueue"),
    });
  if (poolJson !== undefined)
    options.contextPool = ContextPool.fromJSON(poolJson, {
      registry,
      tools: given,
      path: saved.pathOf("contextPool"),
    });

  const accepted = byName(model ? [...tools, thinkingTool] : tools);
  const readTurn = (turnJson: unknown, path: string): Turn => {
    const turn = Turn.fromJSON(turnJson, { tools: given, registry, path });
    checkAccepted(turn, accepted, options.name);
    return turn;
  };
  const current = saved.raw("currentTurn");
  return {
    options,
    queue: saved.list("queue").map((turn, index) => readTurn(turn, `${saved.pathOf("queue")}[${index}]`)),
    currentTurn: current === undefined ? null : pending(readTurn(current, saved.pathOf("currentTurn"))),
    isPaused: saved.boolean("isPaused") ?? false,
  };
}

/** A turn that has failed or was cancelled is over: there is nothing left to run or to pass on. */
function pending(turn: Turn): Turn | null {
  return turn.stopReason === null || turn.stopReason === "completed" ? turn : null;
}
