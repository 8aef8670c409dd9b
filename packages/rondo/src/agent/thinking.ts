// An agent that thinks has a model. `agent/` knows nothing of the loop that asks it: the root entry hands it in.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkLimit, checkPlainObject, checkString } from "../error/check.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import type { ContentPart } from "../model/message.ts";
import type { ModelProvider, ModelSettings } from "../model/provider.ts";
import { tool } from "../tool/define.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolContext } from "../tool/tool-context.ts";
import type { Agent } from "./agent.ts";

/** A question to a model: text, or parts with images among them. */
export type Prompt = string | ContentPart[];

export interface ThinkingOptions {
  /** The model that answers `ask()`. Default: none, the agent only runs turns. */
  model?: ModelProvider;
  /** What the model is told first. Default: nothing. */
  instructions?: string;
  /** How the model is asked to answer. Default: as its server does. */
  settings?: ModelSettings;
  /** How often tools are run for one question. Default: 50. */
  maxToolIterations?: number;
  /**
   * How often in a row a call may have the same arguments and the same result before it is not run again, and how
   * many answers in a row may have no call that can run. `Infinity`: no limit. Default: 3.
   */
  maxRepeats?: number;
  /** What the model is told of the agent's context, before the prompt. Default: `describeContext`. */
  describeContext?: (agent: Agent) => string;
}

/** What an agent thinks with. */
export interface Mind {
  readonly model: ModelProvider;
  readonly instructions: string;
  readonly settings: ModelSettings;
  readonly maxToolIterations: number;
  /** Default: the loop's. */
  readonly maxRepeats?: number;
  readonly describeContext: (agent: Agent) => string;
}

type Think = (mind: Mind, prompt: Prompt, context: ToolContext) => AsyncGenerator<unknown, unknown, void>;

let think: Think | undefined;

export function provideThinking(how: Think): void {
  think = how;
}

/**
 * What an agent knows, for its model: the recent past from the queue, and the list of what is in the pool. The
 * default of `describeContext`.
 */
export function describeContext({ contextQueue, contextPool }: Agent): string {
  const parts: string[] = [];
  if (contextQueue.size > 0) parts.push(`What happened before:\n${contextQueue.history()}`);
  if (contextPool.size > 0) {
    const items = contextPool.items.map(({ id, description, content }) => {
      const text = typeof content === "string" ? content : JSON.stringify(content);
      return `[${id}] ${description}\n${text}`;
    });
    parts.push(`What you know:\n${items.join("\n\n")}`);
  }
  return parts.join("\n\n");
}

const defaultMaxToolIterations = 50;

export function checkMind(options: ThinkingOptions): Mind | null {
  const { model, instructions = "", settings = {}, maxToolIterations = defaultMaxToolIterations } = options;
  const { maxRepeats, describeContext: describe = describeContext } = options;
  checkString("instructions", instructions);
  checkPlainObject("settings", settings);
  if (maxToolIterations !== Number.POSITIVE_INFINITY) checkLimit("maxToolIterations", maxToolIterations);
  if (maxRepeats !== undefined && maxRepeats !== Number.POSITIVE_INFINITY)
    checkLimit("maxRepeats", maxRepeats);
  if (typeof describe !== "function")
    throw new InvalidTypeError({ field: "describeContext", expected: "a function", received: describe });
  if (model === undefined) return null;
  if (typeof (model as Partial<ModelProvider> | null)?.stream !== "function")
    throw new InvalidTypeError({
      field: "model",
      expected: 'a model such as ollama("qwen3:8b")',
      received: model,
    });
  return {
    model,
    instructions,
    settings,
    maxToolIterations,
    ...(maxRepeats !== undefined && { maxRepeats }),
    describeContext: describe,
  };
}

/** The built-in tool as whose turn an agent thinks. One for all: it asks the model of the agent that runs it. */
export const thinkingTool: AnyTool = tool(
  {
    name: "think",
    description: "Asks the agent's model, and runs the tools that it calls.",
    input: { type: "object", properties: { prompt: {} }, required: ["prompt"] },
    timeoutMs: Number.POSITIVE_INFINITY,
    registry: false,
  },
  async function* ({ prompt }, context) {
    const mind = context.agent?.mind;
    if (!mind) throw new SafeExecutionError("Only an agent that has a model can run a turn of 'think'.");
    if (!think)
      throw new Error("The loop is not loaded: import Agent from 'rondo', not from its inner files.");
    return yield* think(mind, prompt as Prompt, context);
  },
);
