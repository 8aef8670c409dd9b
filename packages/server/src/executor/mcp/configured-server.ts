// An MCP server of the config. If it is down, only its tools are unavailable, and the log says so.

import type { AnyTool } from "rondo";
import { type McpServer, type McpToolDefinition, mcpServer } from "rondo/mcp";
import { redactingFetch } from "./redact.ts";
import { serverName } from "./server-name.ts";

/** A server as the config describes it. */
export interface McpServerSettings {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** Which calls a person has to allow. Default: none. */
  readonly requireApproval?: "always" | "never" | readonly string[] | undefined;
  /** Whether all requests have its tools, or only those that name it. Default: `always`. */
  readonly offer?: "always" | "named" | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxTools?: number | undefined;
  readonly maxListBytes?: number | undefined;
  readonly maxDescriptionChars?: number | undefined;
  readonly maxResultBytes?: number | undefined;
  readonly maxMessageBytes?: number | undefined;
}

const limits = [
  "timeoutMs",
  "maxTools",
  "maxListBytes",
  "maxDescriptionChars",
  "maxResultBytes",
  "maxMessageBytes",
] as const;

/** How often a server that is not connected is tried for people who look at it. */
const minLookMs = 10_000;

interface Surroundings {
  readonly onWarning: (message: string) => void;
  /** How long a request that does not name the server waits for it, once. Default: 5,000. */
  readonly patienceMs?: number | undefined;
}

export class ConfiguredServer {
  readonly label: string;
  readonly settings: McpServerSettings;
  readonly server: McpServer;
  readonly #surroundings: Surroundings;
  #known: readonly AnyTool[] = [];
  #lookedAtMs = -Infinity;
  /** Whether it was down or slow at the last request. */
  #isMissing = false;
  #isClosed = false;

  constructor(label: string, settings: McpServerSettings, surroundings: Surroundings) {
    const { onWarning } = surroundings;
    this.label = label;
    this.settings = settings;
    this.#surroundings = surroundings;
    this.server = mcpServer({ ...serverOptions(settings), name: serverName(label), onWarning });
  }

  /** Its tools as it last listed them. */
  get known(): readonly AnyTool[] {
    return this.#known;
  }

  /** Whether the config wants a person to allow calls of this tool. */
  needsApproval({ name }: Pick<McpToolDefinition, "name">): boolean {
    const { requireApproval = "never" } = this.settings;
    return typeof requireApproval === "string"
      ? requireApproval === "always"
      : requireApproval.includes(name);
  }

  /** Connects and lists its tools, unless that was just tried: whoever only looks must not make work. */
  async look(): Promise<void> {
    const { state } = this.server;
    const nowMs = performance.now();
    if (state !== "connected" && nowMs < this.#lookedAtMs + minLookMs) return;
    this.#lookedAtMs = nowMs;
    await this.tools({ isNamed: true });
  }

  /** Its tools, or why there are none. A request that names it waits; others wait only for a short time. */
  async tools({ isNamed }: { isNamed: boolean }): Promise<readonly AnyTool[] | Error> {
    const asked = this.server.tools().then(
      (tools) => {
        this.#isMissing = false;
        this.#known = tools;
        return tools;
      },
      (error: Error) => {
        this.#miss(error.message);
        return error;
      },
    );
    return isNamed ? asked : this.#unlessSlow(asked);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.server.close();
  }

  async #unlessSlow<T>(asked: Promise<T>): Promise<T | Error> {
    const waits = this.#isMissing ? 0 : (this.#surroundings.patienceMs ?? 5000);
    const { promise: isSlow, resolve } = Promise.withResolvers<Error>();
    const timer = setTimeout(() => {
      const error = new Error(`The MCP server '${this.label}' has not answered yet.`);
      this.#miss(error.message);
      resolve(error);
    }, waits);
    try {
      return await Promise.race([asked, isSlow]);
    } finally {
      clearTimeout(timer);
    }
  }

  #miss(why: string): void {
    if (!this.#isMissing && !this.#isClosed)
      this.#surroundings.onWarning(`${why} Its tools are missing until it is there.`);
    this.#isMissing = true;
  }
}

function serverOptions(settings: McpServerSettings) {
  const { command, args, env, cwd, url, headers = {}, allowedTools } = settings;
  const set = limits.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]] as const]));
  const common = { ...(allowedTools && { allowedTools }), ...Object.fromEntries(set) };
  if (command !== undefined)
    return {
      ...common,
      command,
      ...(args && { args }),
      ...(env && { env }),
      ...(cwd !== undefined && { cwd }),
    };
  return { ...common, url: url ?? "", headers, fetch: redactingFetch(fetch, headers) };
}
