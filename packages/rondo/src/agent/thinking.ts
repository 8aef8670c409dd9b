// Agents with a model. `agent/` does not know the loop that asks the model: the root entry provides it.

import { checkLimit, checkPlainObject, checkString, requireType } from "../error/check.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import type { ContentPart } from "../model/message.ts";
import type { ModelProvider, ModelSettings } from "../model/provider.ts";
import { tool } from "../tool/define.ts";
import { tellsItself } from "../tool/invoke.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolContext } from "../tool/tool-context.ts";
import type { Agent } from "./agent.ts";

/** Text, or content parts such as images. */
export type Prompt = string | ContentPart[];

export interface ThinkingOptions {
  /** The model that answers `ask()`. Default: none, the agent only runs turns. */
  model?: ModelProvider;
  /** The system prompt. Default: none. */
  instructions?: string;
  /** Sampling and limits. Default: the server's. */
  settings?: ModelSettings;
  /** How many rounds of tool calls one prompt may take. Default: 50. */
  maxToolIterations?: number;
  /**
   * How many times in a row a call may have the same arguments and the same result before it is rejected, and how
   * many answers in a row may have no call that can run. `Infinity`: no limit. Default: 3.
   */
  maxRepeats?: number;
  /** Describes the agent's context to the model, before the prompt. Default: `describeContext`. */
  describeContext?: (agent: Agent) => string;
}

export const thinkingOptionNames = [
  "model",
  "instructions",
  "settings",
  "maxToolIterations",
  "maxRepeats",
  "describeContext",
] as const satisfies readonly (keyof ThinkingOptions)[];

/** The model of an agent, and how it is asked. */
export interface ModelSetup {
  readonly model: ModelProvider;
  readonly instructions: string;
  readonly settings: ModelSettings;
  readonly maxToolIterations: number;
  /** Default: the loop's. */
  readonly maxRepeats?: number;
  readonly describeContext: (agent: Agent) => string;
}

type Think = (
  setup: ModelSetup,
  prompt: Prompt,
  context: ToolContext,
) => AsyncGenerator<unknown, unknown, void>;

let think: Think | undefined;

export function provideThinking(how: Think): void {
  think = how;
}

/** Describes an agent's context to its model: the items of the queue, then those of the pool. */
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

export function checkModelSetup(
  options: Omit<ThinkingOptions, "model"> & { model?: ModelProvider | undefined },
): ModelSetup | null {
  const { model, instructions = "", settings = {}, maxToolIterations = defaultMaxToolIterations } = options;
  const { maxRepeats, describeContext: describe = describeContext } = options;
  checkString("instructions", instructions);
  checkPlainObject("settings", settings);
  if (maxToolIterations !== Number.POSITIVE_INFINITY) checkLimit("maxToolIterations", maxToolIterations);
  if (maxRepeats !== undefined && maxRepeats !== Number.POSITIVE_INFINITY)
    checkLimit("maxRepeats", maxRepeats);
  requireType(typeof describe === "function", "describeContext", "a function", describe);
  if (model === undefined) return null;
  const hasStream = typeof (model as Partial<ModelProvider> | null)?.stream === "function";
  requireType(hasStream, "model", 'a model such as ollama("qwen3:8b")', model);
  return {
    model,
    instructions,
    settings,
    maxToolIterations,
    ...(maxRepeats !== undefined && { maxRepeats }),
    describeContext: describe,
  };
}

/** The built-in tool behind `ask()`. All agents share it: it asks the model of the agent that runs it. */
export function thinkingTool(): AnyTool {
  if (made) return made;
  made = tool(
    {
      name: "think",
      description: "Asks the agent's model, and runs the tools that it calls.",
      input: { type: "object", properties: { prompt: {} }, required: ["prompt"] },
      timeoutMs: Number.POSITIVE_INFINITY,
      registry: false,
    },
    async function* ({ prompt }, context) {
      const setup = context.agent?.modelSetup;
      if (!setup) throw new SafeExecutionError("Only an agent that has a model can run a turn of 'think'.");
      if (!think)
        throw new Error("The loop is not loaded: import Agent from 'rondo', not from its inner files.");
      return yield* think(setup, prompt as Prompt, context);
    },
  );
  tellsItself.add(made);
  return made;
}

/** Made when an agent with a model needs it: most programs have none. */
let made: AnyTool | undefined;
