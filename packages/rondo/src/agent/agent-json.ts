// An agent as JSON, and back. Saved data is checked completely before the agent is made, because that registers it.

import { ContextPool } from "../context/context-pool.ts";
import { ContextQueue } from "../context/context-queue.ts";
import { checkOptions } from "../error/check.ts";
import type { JsonObject } from "../json/json-value.ts";
import { formatVersion, SavedObject } from "../json/read.ts";
import { chooseRegistry, type RegistryOption } from "../registry/registry-option.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { OnTrace } from "../trace/run-trace.ts";
import { Turn } from "../turn/turn.ts";
import { checkScope, findTool } from "../turn/turn-options.ts";
import type { Agent } from "./agent.ts";
import { type AgentOptions, byName, checkAccepted } from "./agent-options.ts";
import { type ThinkingOptions, thinkingOptionNames, thinkingTool } from "./thinking.ts";
import type { AgentContents } from "./turn-effects.ts";
import { TurnInFlight } from "./turn-in-flight.ts";
import type { TurnRetries } from "./turn-retries.ts";

/** Where the tools of a saved agent come from, and where it is registered. */
export interface AgentScope extends ThinkingOptions {
  /** Unregistered tools. They take precedence. Default: none. */
  tools?: readonly AnyTool[];
  /** Where its other tools are, and where it is registered; `false` for nowhere. Default: the default registry. */
  registry?: RegistryOption;
  /** Further attempts for its turns, as of `new Agent`. They are not saved. Default: none. */
  retries?: TurnRetries;
  /** How many turns run at once. It is not saved. Default: 1. */
  concurrency?: number;
  /** Receives what happens in its runs, as of `new Agent`. Default: nobody listens. */
  onTrace?: OnTrace;
}

/** The contents must not have the effects of turns that are saved to run again. */
export function writeAgent(
  agent: Agent,
  inFlight: readonly TurnInFlight[],
  { turns, queue, pool }: AgentContents,
): JsonObject {
  const { modelSetup, contextQueue, contextPool } = agent;
  const [currentTurn, ...others] = inFlight.filter(({ isPending }) => isPending).map(writeInFlight);
  return {
    version: formatVersion,
    name: agent.name,
    description: agent.description,
    toolNames: agent.tools.map((tool) => tool.name),
    ...(modelSetup && { instructions: modelSetup.instructions }),
    queue: turns.map((turn) => turn.toJSON()),
    currentTurn: currentTurn ?? null,
    ...(others.length > 0 && { otherCurrentTurns: others }),
    contextQueue: { ...contextQueue.toJSON(), items: queue.map((item) => item.toJSON()) },
    contextPool: { ...contextPool.toJSON(), items: pool.map((item) => item.toJSON()) },
    isPaused: agent.isPaused,
    tags: [...agent.tags],
  };
}

/** A turn whose last attempt failed, and that is tried again, is saved as one that has not ended. */
function writeInFlight({ turn, isCompleted }: TurnInFlight): JsonObject {
  return isCompleted ? turn.toJSON() : { ...turn.toJSON(), stopReason: null, endTime: null };
}

export interface SavedAgent {
  readonly options: AgentOptions;
  readonly queue: readonly Turn[];
  readonly inFlight: readonly TurnInFlight[];
  readonly isPaused: boolean;
}

export function readAgent(json: unknown, scope: AgentScope): SavedAgent {
  checkOptions("options", scope, [
    "tools",
    "registry",
    "retries",
    "concurrency",
    "onTrace",
    ...thinkingOptionNames,
  ]);
  checkScope({ ...(scope.tools && { tools: scope.tools }) });
  const { tools: extra = [], registry: registryOption, ...settings } = scope;
  const { registry } = chooseRegistry(registryOption);
  const given = [...extra, ...(scope.model ? [thinkingTool()] : [])];
  const saved = new SavedObject(json, "agent");

  const tools = saved.strings("toolNames").map((name) => findTool(name, { tools: given, registry }));
  const instructions = scope.instructions ?? saved.optionalString("instructions");
  const options: AgentOptions = {
    ...settings,
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

  const accepted = byName(scope.model ? [...tools, thinkingTool()] : tools);
  const readTurn = (turnJson: unknown, path: string): Turn => {
    const turn = Turn.fromJSON(turnJson, { tools: given, registry, path });
    checkAccepted(turn, accepted, options.name);
    return turn;
  };
  const readTurns = (key: string) =>
    saved.list(key).map((turn, index) => readTurn(turn, `${saved.pathOf(key)}[${index}]`));
  const current = saved.raw("currentTurn");
  const currentTurns = current === undefined ? [] : [readTurn(current, saved.pathOf("currentTurn"))];
  return {
    options,
    queue: readTurns("queue"),
    inFlight: [...currentTurns, ...readTurns("otherCurrentTurns")]
      .map((turn) => new TurnInFlight(turn, { isStarted: false }))
      .filter(({ isPending }) => isPending),
    isPaused: saved.boolean("isPaused") ?? false,
  };
}
