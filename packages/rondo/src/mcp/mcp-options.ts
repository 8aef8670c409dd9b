// The options of an MCP server, and their checks.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  checkBoolean,
  checkDuration,
  checkLimit,
  checkName,
  checkOptions,
  checkPlainObject,
  checkString,
} from "../error/check.ts";
import { warn } from "../error/logger.ts";
import type { FetchFunction } from "../model/http/send-by.ts";
import { shortName } from "./names.ts";

/** The progress of a call, if the server reports it. */
export interface McpProgress {
  /** The tool, by its name on the server. */
  readonly tool: string;
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

interface CommonOptions {
  /** Its name in warnings, and the prefix of its tools where two have the same name. Default: from its command or URL. */
  name?: string;
  /** The offered tools, by their names on the server. Default: all. */
  allowedTools?: readonly string[];
  /** Time for one call. Default: 60,000; `Infinity` for no limit. */
  timeoutMs?: number;
  /** Time to connect, and then to list the tools. Default: 30,000. */
  connectTimeoutMs?: number;
  /** Whether a lost connection is opened again when it is next needed. Default: true. */
  reconnect?: boolean;
  /** How many of its tools are used; the rest are left out, with a warning. Default: 512. */
  maxTools?: number;
  /** How many bytes its list of tools may have; the rest is left out, with a warning. Default: 4,000,000. */
  maxListBytes?: number;
  /** How long the description of a tool may be; a longer one is truncated, and says so. Default: 10,000. */
  maxDescriptionChars?: number;
  /** How large the result of a call may be; a larger one fails the call. Default: 4,000,000. */
  maxResultBytes?: number;
  /** How large any message may be; a larger one closes the connection. Default: 10,000,000. */
  maxMessageBytes?: number;
  /** Receives warnings. Default: the library's logger. */
  onWarning?: (message: string) => void;
  /** Receives the progress of calls. Default: none. */
  onProgress?: (progress: McpProgress) => void;
}

/** A server that is started as a process, over standard input and output. */
export interface McpCommandOptions extends CommonOptions {
  command: string;
  /** Default: none. */
  args?: readonly string[];
  /** Added to the few variables that every server inherits, such as `PATH` and `HOME`. Default: none. */
  env?: Readonly<Record<string, string>>;
  /** Its working directory. Default: that of this process. */
  cwd?: string;
  url?: undefined;
}

/** A server over streamable HTTP. */
export interface McpUrlOptions extends CommonOptions {
  url: string | URL;
  /** Headers of each request, such as `authorization`. Default: none. */
  headers?: Readonly<Record<string, string>>;
  /** Makes the requests. Default: the global `fetch`. */
  fetch?: FetchFunction;
  command?: undefined;
}

export type McpServerOptions = McpCommandOptions | McpUrlOptions;

/** Limits that are whole numbers, with their defaults. */
const limits = {
  maxTools: 512,
  maxListBytes: 4_000_000,
  maxDescriptionChars: 10_000,
  maxResultBytes: 4_000_000,
  maxMessageBytes: 10_000_000,
};

type Target = ReturnType<typeof commandTarget> | ReturnType<typeof urlTarget>;

/** The options, checked, with their defaults. */
export interface CheckedMcpOptions
  extends Readonly<Required<Omit<CommonOptions, "allowedTools" | "onProgress">>> {
  readonly target: Target;
  readonly allowedTools: ReadonlySet<string> | undefined;
  readonly onProgress: CommonOptions["onProgress"] | undefined;
}

const commonKeys = ["name", "allowedTools", "timeoutMs", "connectTimeoutMs", "reconnect"];
const callbackKeys = ["onWarning", "onProgress"];
const commandKeys = ["command", "args", "env", "cwd"];
const urlKeys = ["url", "headers", "fetch"];

export function checkMcpOptions(options: McpServerOptions): CheckedMcpOptions {
  checkOptions("options", options, [
    ...commonKeys,
    ...Object.keys(limits),
    ...callbackKeys,
    ...commandKeys,
    ...urlKeys,
  ]);
  const { command, url, onWarning = warn, onProgress } = options;
  if ((command === undefined) === (url === undefined))
    throw new InvalidArgumentError({
      field: "options",
      expected: "either a command to start, or the url of a running server",
      received: options,
    });
  const given: Readonly<Record<string, unknown>> = { ...options };
  const misplaced = (command === undefined ? commandKeys : urlKeys).find((key) => given[key] !== undefined);
  if (misplaced !== undefined)
    throw new InvalidArgumentError({
      field: misplaced,
      expected: `nothing, for it goes with ${command === undefined ? "a command" : "a url"}`,
      received: given[misplaced],
    });
  checkFunction("onWarning", onWarning);
  checkFunction("onProgress", onProgress);
  const target = options.command === undefined ? urlTarget(options) : commandTarget(options);
  const checkedLimits = Object.entries(limits).map(([key, limit]) => [
    key,
    checkLimit(key, given[key] ?? limit),
  ]);
  return {
    ...(Object.fromEntries(checkedLimits) as typeof limits),
    name: options.name === undefined ? defaultName(target) : checkName("name", options.name),
    target,
    allowedTools: options.allowedTools && new Set(checkStrings("allowedTools", options.allowedTools)),
    timeoutMs: checkDuration("timeoutMs", options.timeoutMs ?? 60_000),
    connectTimeoutMs: checkDuration("connectTimeoutMs", options.connectTimeoutMs ?? 30_000),
    reconnect: checkBoolean("reconnect", options.reconnect ?? true),
    onWarning,
    onProgress,
  };
}

function commandTarget({ command, args = [], env = {}, cwd }: McpCommandOptions) {
  if (checkString("command", command).trim() === "")
    throw new InvalidArgumentError({ field: "command", expected: "a program to start", received: command });
  return {
    command,
    args: checkStrings("args", args),
    env: checkTexts("env", env),
    cwd: cwd === undefined ? undefined : checkString("cwd", cwd),
  };
}

function urlTarget({ url, headers = {}, fetch }: McpUrlOptions) {
  const parsed = url instanceof URL ? url : URL.parse(checkString("url", url));
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:")
    throw new InvalidArgumentError({
      field: "url",
      expected: "an http:// or https:// URL, such as http://127.0.0.1:3001/mcp",
      received: url,
    });
  checkFunction("fetch", fetch);
  return { url: parsed, headers: checkTexts("headers", headers), fetch };
}

function checkFunction(field: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function")
    throw new InvalidTypeError({ field, expected: "a function", received: value });
}

function checkStrings(field: string, list: unknown): string[] {
  if (!Array.isArray(list))
    throw new InvalidTypeError({ field, expected: "a list of strings", received: list });
  return list.map((text, index) => checkString(`${field}[${index}]`, text));
}

function checkTexts(field: string, texts: unknown): Record<string, string> {
  const given = Object.entries(checkPlainObject(field, texts));
  return Object.fromEntries(given.map(([key, text]) => [key, checkString(`${field}.${key}`, text)]));
}

/** Programs that only start another, whose name says more. */
const starters = /^(npx|node|bunx?|deno|uvx?|pipx|python3?|pnpm|yarn|docker|run|exec|dlx|start)$/;

function defaultName(target: CheckedMcpOptions["target"]): string {
  if ("url" in target) return shortName(target.url.hostname);
  const words = [target.command, ...target.args].filter((word) => !word.startsWith("-"));
  const names = words.map((word) => word.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, ""));
  return shortName((names.find((word) => !starters.test(word)) ?? "mcp").replace(/(.)@.*$|\.\w+$/, "$1"));
}
