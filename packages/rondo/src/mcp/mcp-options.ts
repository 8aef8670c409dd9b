// What an MCP server can be told, and the checks of that.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  checkBoolean,
  checkDuration,
  checkName,
  checkOptions,
  checkPlainObject,
  checkString,
} from "../error/check.ts";
import { warn } from "../error/logger.ts";
import type { FetchFunction } from "../model/http/http-fetch.ts";
import { shortName } from "./names.ts";

/** How far a call has come, if the server tells. */
export interface McpProgress {
  /** The tool, by its name on the server. */
  readonly tool: string;
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

interface CommonOptions {
  /** What it is called in warnings, and what its tools are prefixed with where two have the same name. */
  name?: string;
  /** The tools that are offered, by their names on the server. Default: all. */
  allowedTools?: readonly string[];
  /** Time for one call. Default: 60,000; `Infinity` for no limit. */
  timeoutMs?: number;
  /** Time to connect, and then to list the tools. Default: 30,000. */
  connectTimeoutMs?: number;
  /** Whether a connection that has died is made again when it is needed next. Default: true. */
  reconnect?: boolean;
  /** The most tools that are taken of its list; those after are left out, with a warning. Default: 512. */
  maxTools?: number;
  /** The most bytes of its list of tools; those after are left out, with a warning. Default: 4,000,000. */
  maxListBytes?: number;
  /** The longest description of a tool; a longer one is cut, and says so. Default: 10,000. */
  maxDescriptionChars?: number;
  /** The largest result of a call; a larger one is an error of the call. Default: 4,000,000. */
  maxResultBytes?: number;
  /** The largest message of any kind; a larger one ends the connection. Default: 10,000,000. */
  maxMessageBytes?: number;
  /** Gets what is worth knowing but stops nothing. Default: the library's logger. */
  onWarning?: (message: string) => void;
  /** Gets the progress of calls. Default: nobody. */
  onProgress?: (progress: McpProgress) => void;
}

/** A server that is started as a process and spoken to over its standard input and output. */
export interface McpCommandOptions extends CommonOptions {
  command: string;
  /** Default: none. */
  args?: readonly string[];
  /** Added to the few variables that every server gets, such as `PATH` and `HOME`. Default: none. */
  env?: Readonly<Record<string, string>>;
  /** The folder in which it runs. Default: that of this process. */
  cwd?: string;
  url?: undefined;
}

/** A server that is reached by streamable HTTP. */
export interface McpUrlOptions extends CommonOptions {
  url: string | URL;
  /** Sent with each request, such as an `authorization`. Default: none. */
  headers?: Readonly<Record<string, string>>;
  /** Makes the requests. Default: the global `fetch`. */
  fetch?: FetchFunction;
  command?: undefined;
}

export type McpServerOptions = McpCommandOptions | McpUrlOptions;

/** All checked, with defaults. */
export interface CheckedMcpOptions {
  readonly name: string;
  readonly target:
    | {
        readonly command: string;
        readonly args: string[];
        readonly env: Record<string, string>;
        readonly cwd: string | undefined;
      }
    | {
        readonly url: URL;
        readonly headers: Record<string, string>;
        readonly fetch: FetchFunction | undefined;
      };
  readonly allowedTools: ReadonlySet<string> | undefined;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly reconnect: boolean;
  readonly maxTools: number;
  readonly maxListBytes: number;
  readonly maxDescriptionChars: number;
  readonly maxResultBytes: number;
  readonly maxMessageBytes: number;
  readonly onWarning: (message: string) => void;
  readonly onProgress: ((progress: McpProgress) => void) | undefined;
}

const commonKeys = [
  "name",
  "allowedTools",
  "timeoutMs",
  "connectTimeoutMs",
  "reconnect",
  "maxTools",
  "maxListBytes",
  "maxDescriptionChars",
  "maxResultBytes",
  "maxMessageBytes",
  "onWarning",
  "onProgress",
];
const commandKeys = ["command", "args", "env", "cwd"];
const urlKeys = ["url", "headers", "fetch"];

export function checkMcpOptions(options: McpServerOptions): CheckedMcpOptions {
  checkOptions("options", options, [...commonKeys, ...commandKeys, ...urlKeys]);
  const { command, url, onWarning = warn, onProgress } = options;
  if ((command === undefined) === (url === undefined))
    throw new InvalidArgumentError({
      field: "options",
      expected: "either a command to start, or the url of a server that runs",
      received: options,
    });
  const [misplaced] = (command === undefined ? commandKeys : urlKeys).filter((key) => key in options);
  if (misplaced !== undefined && options[misplaced as keyof McpServerOptions] !== undefined)
    throw new InvalidArgumentError({
      field: misplaced,
      expected: `nothing, for it goes with ${command === undefined ? "a command" : "a url"}`,
      received: options[misplaced as keyof McpServerOptions],
    });
  checkFunction("onWarning", onWarning);
  checkFunction("onProgress", onProgress);
  const target = options.command === undefined ? urlTarget(options) : commandTarget(options);
  return {
    name: options.name === undefined ? defaultName(target) : checkName("name", options.name),
    target,
    allowedTools: options.allowedTools && new Set(checkStrings("allowedTools", options.allowedTools)),
    timeoutMs: checkDuration("timeoutMs", options.timeoutMs ?? 60_000),
    connectTimeoutMs: checkDuration("connectTimeoutMs", options.connectTimeoutMs ?? 30_000),
    reconnect: checkBoolean("reconnect", options.reconnect ?? true),
    maxTools: checkCount("maxTools", options.maxTools ?? 512),
    maxListBytes: checkCount("maxListBytes", options.maxListBytes ?? 4_000_000),
    maxDescriptionChars: checkCount("maxDescriptionChars", options.maxDescriptionChars ?? 10_000),
    maxResultBytes: checkCount("maxResultBytes", options.maxResultBytes ?? 4_000_000),
    maxMessageBytes: checkCount("maxMessageBytes", options.maxMessageBytes ?? 10_000_000),
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

function checkCount(field: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError({ field, expected: "a whole number from 1", received: value });
  return value;
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

/** Programs that only start another, which has the telling name. */
const starters = /^(npx|node|bunx?|deno|uvx?|pipx|python3?|pnpm|yarn|docker|run|exec|dlx|start)$/;

function defaultName(target: CheckedMcpOptions["target"]): string {
  if ("url" in target) return shortName(target.url.hostname);
  const words = [target.command, ...target.args].filter((word) => !word.startsWith("-"));
  const names = words.map((word) => word.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, ""));
  return shortName((names.find((word) => !starters.test(word)) ?? "mcp").replace(/(.)@.*$|\.\w+$/, "$1"));
}
