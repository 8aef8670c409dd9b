// An agent as JSON, and back. Saved data is checked completely before the agent is made, because that registers it.

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
import { type ThinkingOptions, thinkingOptionNames, thinkingTool } from "./thinking.ts";
import type { AgentContents } from "./turn-effects.ts";

/** Where the tools of a saved agent come from, and where it is registered. */
export interface AgentScope extends ThinkingOptions {
  /** Unregistered tools. They take precedence. Default: none. */
  tools?: readonly AnyTool[];
  /** Where its other tools are, and where it is registered; `false` for nowhere. Default: the default registry. */
  registry?: RegistryOption;
}

/** The contents must not have the effects of a turn that is saved to run again. */
export function writeAgent(agent: Agent, { turns, queue, pool }: AgentContents): JsonObject {
  const { modelSetup, contextQueue, contextPool } = agent;
  const currentTurn = agent.currentTurn && pending(agent.currentTurn);
  return {
    version: formatVersion,
    name: agent.name,
    description: agent.description,
    toolNames: agent.tools.map((tool) => tool.name),
    ...(modelSetup && { instructions: modelSetup.instructions }),
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
  checkOptions("options", scope, ["tools", "registry", ...thinkingOptionNames]);
  checkScope({ ...(scope.tools && { tools: scope.tools }) });
  const { tools: extra = [], registry: registryOption, ...thinking } = scope;
  const { registry } = chooseRegistry(registryOption);
  const given = [...extra, ...(scope.model ? [thinkingTool] : [])];
  const saved = new SavedObject(json, "agent");

  const tools = saved.strings("toolNames").map((name) => findTool(name, { tools: given, registry }));
  const instructions = scope.instructions ?? saved.optionalString("instructions");
  const options: AgentOptions = {
    ...thinking,
    name: saved.string("name"),
    description: saved.optionalString("description") ?? "",
    tools,
    tags: saved.strings("tags"),
    ...(instructions !== undefined && { instructions }),
    ...(registryOption !== undefined && { registry: registryOption }),
  };
  const within = (key: string) => ({ registry, tools: given, path: saved.pathOf(key) });
  const [queueJson, poolJson] = [saved.raw("contextQueue"), saved.raw("contextPool")];
  if (queueJson !== undefined)
    options.contextQueue = ContextQueue.fromJSON(queueJson, within("contextQueue"));
  if (poolJson !== undefined) options.contextPool = ContextPool.fromJSON(poolJson, within("contextPool"));

  const accepted = byName(scope.model ? [...tools, thinkingTool] : tools);
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

/** A turn that failed or was cancelled is over: nothing is left to run or to pass on. */
function pending(turn: Turn): Turn | null {
  return turn.stopReason === null || turn.stopReason === "completed" ? turn : null;
}
