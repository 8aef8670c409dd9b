// The options of a client, and their checks.

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
import type { SessionStore } from "../session/store.ts";
import type { CheckedSchema, InputSchema, ParsedInput } from "../tool/infer.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolSource } from "../tool/tool-source.ts";
import { checkOnTrace, type OnTrace } from "../trace/run-trace.ts";
import { withSubtools } from "../turn/turn-options.ts";
import { type ClientHooks, checkClientHooks, type HookDecision } from "./client-hooks.ts";
import { checkSession, checkSessionStore } from "./client-session.ts";
import { ClientTools } from "./client-tools.ts";
import { fitToWindow } from "./fit-to-window.ts";

/** A decision about a call, with a reason or another input. */
type ToolPermission = Omit<HookDecision, "modifiedPrompt">;

/** Whether a tool may run: `true`, `false`, or a decision with a reason or another input. */
export type CanUseTool = (
  call: Pick<PendingCall, "id" | "name" | "input" | "signal">,
) => Promise<boolean | ToolPermission> | boolean | ToolPermission;

/** The type of the output, from its schema; `unknown` without one. */
export type ShapedBy<S extends InputSchema | undefined> = [S] extends [undefined] ? unknown : ParsedInput<S>;

/** The options of a connection, for a model that is given by its name. */
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
type TransportOptions = Pick<OpenAICompatibleOptions, (typeof transportKeys)[number]>;

export interface ClientOptions<
  S extends InputSchema | undefined = InputSchema | undefined,
  T extends AnyTool | ToolSource = AnyTool | ToolSource,
> extends Partial<TransportOptions> {
  /** A model, such as `ollama("qwen3:8b")`, or a name, with `baseURL`. Default: the environment's `RONDO_MODEL`. */
  model?: ModelProvider | string;
  /** The system message. Default: none. */
  systemPrompt?: string;
  /**
   * The tools that the model is offered, with their subtools, and tool sources, such as `mcpServer()` of
   * `rondo/mcp`, which are asked for their tools before each run. Default: none.
   */
  tools?: Iterable<T>;
  /** Whether the client runs the tools. Default: false, you run them. */
  autoExecuteTools?: boolean;
  /** In automatic mode, how often tools are run for one prompt. Default: 5. */
  maxToolIterations?: number;
  /**
   * In automatic mode, how often in a row a call may have the same arguments and the same result before it is not
   * run again, and how many answers in a row may have no call that can run. `Infinity`: no limit. Default: 3.
   */
  maxRepeats?: number;
  /**
   * How many tokens of one result of a tool the model reads at once; of a longer one it reads the beginning and the end,
   * and reads on with a tool. `Infinity`: no limit. Default: a quarter of the context window, 8,000 if that is unknown.
   */
  maxResultTokens?: number;
  /** How many tools the model is offered; with more it has to find them first. `Infinity`: no limit. Default: 64. */
  maxTools?: number;
  /** How many prompts the client accepts. Default: no limit. */
  maxTurns?: number;
  /** The longest answer. Default: 4,096; `null`: the server's. */
  maxTokens?: number | null;
  /** From 0 to 2. Default: 0.7; `null`: the server's. */
  temperature?: number | null;
  /** More settings of the request. */
  settings?: ModelSettings;
  /** Whether the calls of one answer run in parallel. Default: true. */
  parallelToolCalls?: boolean;
  /** Names of the tools that may be used. Default: all. */
  allowedTools?: readonly string[];
  /** Names of tools that may not be used. Default: none. */
  disallowedTools?: readonly string[];
  /** Asked before each call, for approval by a person for example. Default: all may run. */
  canUseTool?: CanUseTool;
  hooks?: ClientHooks;
  /** The schema of the answer, which is validated, retried once if it does not fit, and given as `output`. */
  output?: S & CheckedSchema<S>;
  /**
   * Whether invalid JSON in the arguments of calls is repaired; otherwise the error is reported to the model.
   * Default: as in the model's profile, else true.
   */
  repairArguments?: boolean;
  /**
   * What happens where the model server certainly read only a part of the prompt and answered all the same: a warning,
   * or a `PromptCutError`. Default: `warn`.
   */
  onPromptCut?: "warn" | "error";
  /** Whether pieces of calls become `tool_use_delta` blocks. Default: false. */
  includeToolUseDeltas?: boolean;
  /**
   * What happens to a conversation that is longer than the model's context window: `auto` leaves out its oldest turns
   * in what is sent, and keeps them in history; `disabled` leaves it to the model server. Default: `disabled`.
   */
  truncation?: "auto" | "disabled";
  /**
   * The id of a stored session to resume, or `"new"` to begin one: the conversation is then saved as it grows, and
   * the process may die at any moment. Default: `"new"` with a `sessionStore`, else nothing is stored.
   */
  session?: string;
  /** Whether the session is continued in a copy with a new id, which leaves the original as it is. Default: false. */
  fork?: boolean;
  /**
   * Where sessions are kept: `folderSessions("…")` of `rondo/sessions`, `memorySessions()`, or your own. Default:
   * a folder of your user's state, on runtimes with a file system.
   */
  sessionStore?: SessionStore;
  /** How long an aborted tool may clean up before it is left behind. Default: 1,000. */
  graceMs?: number;
  /** Receives what happens in its runs, and when: see `TraceEvent`. Default: nobody listens, and nothing is recorded. */
  onTrace?: OnTrace;
  /** Interrupts the run under way, like `interrupt()`, and refuses later queries. */
  signal?: AbortSignal;
}

const noSettings: ModelSettings = {};

/** The check of each option, with its default. */
const checks = {
  systemPrompt: optional(checkString, ""),
  tools: (_field: string, value: unknown) => new ClientTools(value ?? []),
  autoExecuteTools: optional(checkBoolean, false),
  maxToolIterations: optional(checkCount, 5),
  maxRepeats: optional(checkCount, undefined), // the loop's
  maxResultTokens: optional(checkCount, undefined), // the loop's
  maxTools: optional(checkCount, undefined), // the loop's
  maxTurns: optional(checkCount, Number.POSITIVE_INFINITY),
  maxTokens: optional((field, value) => (value === null ? null : checkLimit(field, value)), 4096),
  temperature: optional((field, value) => (value === null ? null : checkTemperature(field, value)), 0.7),
  settings: optional(toSettings, noSettings),
  parallelToolCalls: optional(checkBoolean, true),
  allowedTools: optional(checkNames, undefined),
  disallowedTools: optional(checkNames, undefined),
  canUseTool: optional(checkCanUseTool, undefined),
  hooks: (_field: string, value: unknown) => checkClientHooks(value),
  output: (_field: string, value: unknown) => value, // StructuredOutput compiles it
  repairArguments: optional(checkBoolean, undefined),
  onPromptCut: optional(checkOnPromptCut, "warn" as const),
  includeToolUseDeltas: optional(checkBoolean, false),
  truncation: optional(checkTruncation, "disabled"),
  session: optional(checkSession, undefined),
  fork: optional(checkBoolean, false),
  sessionStore: optional(checkSessionStore, undefined),
  graceMs: optional(checkGrace, undefined),
  onTrace: checkOnTrace,
  signal: checkSignal,
} satisfies { [K in keyof Omit<ClientOptions, "model" | keyof TransportOptions>]-?: Check<unknown> };

type Check<T> = (field: string, value: unknown) => T;
type Checked = { readonly [K in keyof typeof checks]: ReturnType<(typeof checks)[K]> };

/** The options of a client, checked and with their defaults. */
export interface CheckedOptions
  extends Omit<Checked, "maxTokens" | "temperature" | "allowedTools" | "disallowedTools" | "output"> {
  readonly model: ModelProvider;
  readonly isAllowed: (tool: AnyTool) => boolean;
  readonly output: InputSchema | undefined;
}

const fields = Object.keys(checks) as (keyof typeof checks)[];
const optionNames = [...transportKeys, "model", ...fields];

export function checkClientOptions(options: ClientOptions): CheckedOptions {
  checkOptions("options", options, optionNames);
  const all: { [K in keyof typeof checks]?: unknown } = {};
  for (const field of fields) all[field] = checks[field](field, options[field]);
  const { maxTokens, temperature, allowedTools, disallowedTools, ...checked } = all as Checked;
  for (const field of ["temperature", "maxTokens"] as const)
    if (options[field] !== undefined && checked.settings[field] !== undefined)
      throw new InvalidArgumentError({
        field: `settings.${field}`,
        expected: `nothing, because ${field} is given beside settings too`,
        received: checked.settings[field],
      });
  return {
    ...checked,
    model: checked.truncation === "auto" ? fitToWindow(toModel(options)) : toModel(options),
    output: options.output,
    settings: {
      ...(temperature !== null && { temperature }),
      ...(maxTokens !== null && { maxTokens }),
      ...checked.settings,
    },
    isAllowed: permission(allowedTools, disallowedTools, checked.tools),
  };
}

function optional<T, Default>(check: Check<T>, byDefault: Default): Check<T | Default> {
  return (field, value) => (value === undefined ? byDefault : check(field, value));
}

function checkCount(field: string, value: unknown): number {
  return value === Number.POSITIVE_INFINITY ? value : checkLimit(field, value);
}

function checkTruncation(field: string, value: unknown): "auto" | "disabled" {
  if (value === "auto" || value === "disabled") return value;
  throw new InvalidArgumentError({ field, expected: '"auto" or "disabled"', received: value });
}

function checkTemperature(field: string, value: unknown): number {
  if (typeof value === "number" && value >= 0 && value <= 2) return value;
  throw new InvalidArgumentError({ field, expected: "a number from 0 to 2", received: value });
}

function toSettings(field: string, value: unknown): ModelSettings {
  checkSettings(field, value as ModelSettings);
  return value as ModelSettings;
}

function checkOnPromptCut(field: string, value: unknown): "warn" | "error" {
  if (value === "warn" || value === "error") return value;
  throw new InvalidArgumentError({ field, expected: '"warn" or "error"', received: value });
}

function checkCanUseTool(field: string, value: unknown): CanUseTool {
  if (typeof value === "function") return value as CanUseTool;
  throw new InvalidTypeError({ field, expected: "a function", received: value });
}

function checkNames(field: string, value: unknown): string[] {
  if (!Array.isArray(value))
    throw new InvalidTypeError({ field, expected: "a list of tool names", received: value });
  return value.map((name, index) => checkString(`${field}[${index}]`, name));
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
      expected: "nothing, because the model was given with its connection",
      received: options[given[0] as "baseURL"],
      hint: "Give such options to the model, or name the model and its baseURL here.",
    });
  return model;
}

function permission(
  allowed: readonly string[] | undefined,
  disallowed: readonly string[] = [],
  tools: ClientTools,
): (tool: AnyTool) => boolean {
  const known = tools.all.flatMap(withSubtools).map(({ name }) => name);
  for (const [field, names] of Object.entries({ allowedTools: allowed ?? [], disallowedTools: disallowed }))
    for (const [index, name] of names.entries())
      if (!known.includes(name) && !tools.hasSources)
        // the tools of sources are not known yet
        throw new InvalidArgumentError({
          field: `${field}[${index}]`,
          expected: `one of the tools: ${known.join(", ") || "none"}`,
          received: name,
        });
  const both = disallowed.find((name) => allowed?.includes(name));
  if (both !== undefined)
    throw new InvalidArgumentError({
      field: "disallowedTools",
      expected: "none of the tools that are in allowedTools",
      received: both,
    });
  return ({ name }) => (allowed?.includes(name) ?? true) && !disallowed.includes(name);
}
