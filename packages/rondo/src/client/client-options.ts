// What a client can be told, and the checks of that.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  checkBoolean,
  checkGrace,
  checkLimit,
  checkOptions,
  checkSignal,
  checkString,
} from "../error/check.ts";
import type { PendingCall } from "../loop/options.ts";
import { type OpenAICompatibleOptions, openaiCompatible } from "../model/chat-completions.ts";
import { checkSettings } from "../model/check-settings.ts";
import type { ModelProvider, ModelSettings } from "../model/provider.ts";
import type { InputSchema, ParsedInput } from "../tool/infer.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolSource } from "../tool/tool-source.ts";
import { withSubtools } from "../turn/turn-options.ts";
import { type ClientHooks, checkClientHooks, type HookDecision } from "./client-hooks.ts";
import { ClientTools } from "./client-tools.ts";

/** A decision about a call, with a reason or another input. */
type ToolPermission = Omit<HookDecision, "modifiedPrompt">;

/** Says whether a tool may run: `true`, `false`, or a decision with a reason or another input. */
export type CanUseTool = (
  call: Pick<PendingCall, "id" | "name" | "input" | "signal">,
) => Promise<boolean | ToolPermission> | boolean | ToolPermission;

/** The type of an answer whose shape a schema gives; anything, where there is none. */
export type ShapedBy<S extends InputSchema | undefined> = [S] extends [undefined] ? unknown : ParsedInput<S>;

export interface ClientOptions<S extends InputSchema | undefined = InputSchema | undefined>
  extends Partial<
    Pick<
      OpenAICompatibleOptions,
      | "baseURL"
      | "apiKey"
      | "headers"
      | "profile"
      | "maxConcurrency"
      | "retry"
      | "timeoutMs"
      | "idleTimeoutMs"
      | "maxAnswerBytes"
      | "maxCallsPerAnswer"
      | "fetch"
    >
  > {
  /** A model, such as `ollama("qwen3:8b")`, or a name, with `baseURL`. Default: the environment's `RONDO_MODEL`. */
  model?: ModelProvider | string;
  /** What the model is told first. Default: nothing. */
  systemPrompt?: string;
  /**
   * The tools that the model is offered, with their subtools, and sources of tools, such as `mcpServer()` of
   * `rondo/mcp`, which are asked before each run. Default: none.
   */
  tools?: Iterable<AnyTool | ToolSource>;
  /** Whether tools run by themselves. Default: false, you run them. */
  autoExecuteTools?: boolean;
  /** In automatic mode, how often tools are run for one prompt. Default: 5. */
  maxToolIterations?: number;
  /**
   * In automatic mode, how often in a row a call may have the same arguments and the same result before it is not
   * run again, and how many answers in a row may have no call that can run. `Infinity`: no limit. Default: 3.
   */
  maxRepeats?: number;
  /** How many prompts the client takes. Default: no limit. */
  maxTurns?: number;
  /** Default: 4,096; `null` leaves it to the server. */
  maxTokens?: number | null;
  /** From 0 to 2. Default: 0.7. */
  temperature?: number;
  /** More settings of the request. */
  settings?: ModelSettings;
  /** Whether calls of one answer run at the same time. Default: true. */
  parallelToolCalls?: boolean;
  /** Names of the tools that may be used. Default: all. */
  allowedTools?: readonly string[];
  /** Names of tools that may not be used. Default: none. */
  disallowedTools?: readonly string[];
  /** Asked before each call: approval by a person, for example. Default: all may run. */
  canUseTool?: CanUseTool;
  hooks?: ClientHooks;
  /** The shape of the answer: it is validated, asked for once more if it does not fit, and given as `output`. */
  output?: S;
  /**
   * Whether arguments of calls that are not quite JSON are repaired; otherwise the model is asked for proper JSON.
   * Default: what the model's profile says, which is true if it says nothing.
   */
  repairArguments?: boolean;
  /** Whether pieces of calls are passed on as `tool_use_delta` blocks. Default: false. */
  includeToolUseDeltas?: boolean;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
  /** Ends what is under way, like `interrupt()`, and refuses what comes later. */
  signal?: AbortSignal;
}

const transportKeys = [
  "baseURL",
  "apiKey",
  "headers",
  "profile",
  "maxConcurrency",
  "retry",
  "timeoutMs",
  "idleTimeoutMs",
  "maxAnswerBytes",
  "maxCallsPerAnswer",
  "fetch",
] as const;

const knownKeys = [
  ...transportKeys,
  "model",
  "systemPrompt",
  "tools",
  "autoExecuteTools",
  "maxToolIterations",
  "maxRepeats",
  "maxTurns",
  "maxTokens",
  "temperature",
  "settings",
  "parallelToolCalls",
  "allowedTools",
  "disallowedTools",
  "canUseTool",
  "hooks",
  "output",
  "repairArguments",
  "includeToolUseDeltas",
  "graceMs",
  "signal",
];

/** The options of a client, all checked and with their defaults. */
export interface CheckedOptions {
  readonly model: ModelProvider;
  readonly systemPrompt: string;
  readonly tools: ClientTools;
  readonly autoExecuteTools: boolean;
  readonly maxToolIterations: number;
  /** Default: the loop's. */
  readonly maxRepeats: number | undefined;
  readonly maxTurns: number;
  readonly settings: ModelSettings;
  readonly parallelToolCalls: boolean;
  readonly isAllowed: (tool: AnyTool) => boolean;
  readonly canUseTool: CanUseTool | undefined;
  readonly hooks: ClientHooks;
  readonly output: InputSchema | undefined;
  readonly repairArguments: boolean | undefined;
  readonly includeToolUseDeltas: boolean;
  readonly graceMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

export function checkClientOptions(options: ClientOptions): CheckedOptions {
  checkOptions("options", options, knownKeys);
  const { maxTokens = 4096, temperature = 0.7, canUseTool } = options;
  if (options.settings !== undefined) checkSettings("settings", options.settings);
  for (const field of ["temperature", "maxTokens"] as const)
    if (options[field] !== undefined && options.settings?.[field] !== undefined)
      throw new InvalidArgumentError({
        field: `settings.${field}`,
        expected: `nothing, for ${field} is given beside settings too`,
        received: options.settings[field],
      });
  if (typeof temperature !== "number" || !(temperature >= 0 && temperature <= 2))
    throw new InvalidArgumentError({
      field: "temperature",
      expected: "a number from 0 to 2",
      received: temperature,
    });
  if (canUseTool !== undefined && typeof canUseTool !== "function")
    throw new InvalidTypeError({ field: "canUseTool", expected: "a function", received: canUseTool });
  const tools = new ClientTools(options.tools ?? []);
  const limit = (field: "maxToolIterations" | "maxRepeats" | "maxTurns", value: number) =>
    value === Number.POSITIVE_INFINITY ? value : checkLimit(field, value);
  return {
    model: toModel(options),
    systemPrompt: checkString("systemPrompt", options.systemPrompt ?? ""),
    tools,
    autoExecuteTools: checkBoolean("autoExecuteTools", options.autoExecuteTools ?? false),
    maxToolIterations: limit("maxToolIterations", options.maxToolIterations ?? 5),
    maxRepeats: options.maxRepeats === undefined ? undefined : limit("maxRepeats", options.maxRepeats),
    maxTurns: limit("maxTurns", options.maxTurns ?? Number.POSITIVE_INFINITY),
    settings: {
      temperature,
      ...(maxTokens !== null && { maxTokens: checkLimit("maxTokens", maxTokens) }),
      ...options.settings,
    },
    parallelToolCalls: checkBoolean("parallelToolCalls", options.parallelToolCalls ?? true),
    isAllowed: permission(options, tools),
    canUseTool,
    hooks: checkClientHooks(options.hooks),
    output: options.output,
    repairArguments:
      options.repairArguments === undefined
        ? undefined
        : checkBoolean("repairArguments", options.repairArguments),
    includeToolUseDeltas: checkBoolean("includeToolUseDeltas", options.includeToolUseDeltas ?? false),
    graceMs: options.graceMs === undefined ? undefined : checkGrace("graceMs", options.graceMs),
    signal: checkSignal("signal", options.signal),
  };
}

function toModel(options: ClientOptions): ModelProvider {
  const { model } = options;
  const given = transportKeys.filter((key) => options[key] !== undefined);
  if (model === undefined || typeof model === "string")
    return openaiCompatible({ ...Object.fromEntries(given.map((key) => [key, options[key]])), model });
  if (typeof (model as ModelProvider | undefined)?.stream !== "function")
    throw new InvalidTypeError({
      field: "model",
      expected: 'a model such as ollama("qwen3:8b"), or its name',
      received: model,
    });
  if (given.length > 0)
    throw new InvalidArgumentError({
      field: given[0] as string,
      expected: "nothing, for the model was given with its connection",
      received: options[given[0] as "baseURL"],
      hint: "Give such options to the model, or name the model and its baseURL here.",
    });
  return model;
}

function permission(
  { allowedTools, disallowedTools }: ClientOptions,
  tools: ClientTools,
): (tool: AnyTool) => boolean {
  const known = tools.all.flatMap(withSubtools).map(({ name }) => name);
  const list = (field: string, names: readonly string[] | undefined) => {
    if (names === undefined) return undefined;
    if (!Array.isArray(names))
      throw new InvalidTypeError({ field, expected: "a list of tool names", received: names });
    // What sources will give is not known yet.
    for (const [index, name] of names.entries())
      if (!known.includes(checkString(`${field}[${index}]`, name)) && !tools.hasSources)
        throw new InvalidArgumentError({
          field: `${field}[${index}]`,
          expected: `one of the tools: ${known.join(", ") || "none"}`,
          received: name,
        });
    return new Set(names);
  };
  const allowed = list("allowedTools", allowedTools);
  const disallowed = list("disallowedTools", disallowedTools);
  const both = allowed && [...allowed].find((name) => disallowed?.has(name));
  if (both !== undefined)
    throw new InvalidArgumentError({
      field: "disallowedTools",
      expected: "none of the tools that are in allowedTools",
      received: both,
    });
  return ({ name }) => (allowed?.has(name) ?? true) && !disallowed?.has(name);
}
