// An MCP server as a source of tools. It is connected to when it is first needed, and again after it has died.

import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { untilAborted } from "../async/until-aborted.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolSource } from "../tool/tool-source.ts";
import { Connection, SessionLostError } from "./connection.ts";
import { McpConnectionError } from "./mcp-error.ts";
import { type CheckedMcpOptions, checkMcpOptions, type McpServerOptions } from "./mcp-options.ts";
import { distinctNames, shortName } from "./names.ts";
import { type CallMcpTool, toTool } from "./to-tool.ts";

/** A tool as its server describes it. */
export interface McpToolDefinition {
  /** Its name on the server; models may know it by another. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface McpServer extends ToolSource, AsyncDisposable {
  readonly name: string;
  /** The version of the protocol that is spoken with it; none before the first connection. */
  readonly protocolVersion: string | undefined;
  /**
   * Its tools: asked for once, and again after the server has said that they changed or was connected to anew.
   * Rejects with `McpConnectionError` where there is no server; one that has had tools before keeps them.
   */
  tools(signal?: AbortSignal): Promise<readonly AnyTool[]>;
  /** The same tool with the name of the server in front. */
  prefixed(tool: AnyTool): AnyTool;
  /** What the server says of one of its tools; nothing for a tool of others. */
  definitionOf(tool: AnyTool): McpToolDefinition | undefined;
  /** Calls `fn` when the server says that its tools have changed, or has been connected to anew. Call what it gives to stop. */
  onToolsChanged(fn: () => void): () => void;
  /** Ends the connection, and the process if there is one. Calls under way fail. There is no way back. */
  close(): Promise<void>;
}

/**
 * An MCP server whose tools can stand among the `tools` of a `Client` or of `query()`. Nothing is started before
 * its tools are asked for. Close it, or `await using` it: a process that is not closed keeps this one alive.
 *
 * Defaults: all its tools up to 512, 60,000 ms for a call, 30,000 ms to connect, results of up to 4 MB, and a new
 * connection after one has died.
 */
export function mcpServer(options: McpServerOptions): McpServer {
  return new ConnectedServer(checkMcpOptions(options));
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;

class ConnectedServer implements McpServer {
  readonly name: string;
  readonly #options: CheckedMcpOptions;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #definitions = new WeakMap<AnyTool, McpTool>();
  readonly #prefixed = new WeakMap<AnyTool, AnyTool>();
  /** Connections that could not be opened, and are being closed. */
  readonly #ending = new Set<Promise<void>>();
  #connecting: Promise<Connection> | undefined;
  #connection: Connection | undefined;
  #wasConnected = false;
  /** Tries in a row that have failed, and when the next may be made. */
  #failures = 0;
  #nextTryAt = 0;
  #lastError: unknown;
  #listing: Promise<readonly AnyTool[]> | undefined;
  #known: readonly AnyTool[] | undefined;

  constructor(options: CheckedMcpOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get protocolVersion(): string | undefined {
    return this.#connection?.protocolVersion;
  }

  async tools(signal?: AbortSignal): Promise<readonly AnyTool[]> {
    signal?.throwIfAborted();
    try {
      const listing = this.#listing ?? this.#list();
      return await (signal ? untilAborted(listing, signal) : listing);
    } catch (error) {
      if (signal?.aborted || this.#closing.signal.aborted || !this.#known) throw error;
      this.#options.onWarning(`${(error as Error).message} Its tools stay, and calls of them fail.`);
      return this.#known;
    }
  }

  prefixed(tool: AnyTool): AnyTool {
    const definition = this.#definitions.get(tool);
    if (!definition) return tool;
    const made =
      this.#prefixed.get(tool) ?? this.#make(shortName(`${this.name}__${definition.name}`), definition);
    this.#prefixed.set(tool, made);
    return made;
  }

  definitionOf(tool: AnyTool): McpToolDefinition | undefined {
    return this.#definitions.get(tool);
  }

  onToolsChanged(fn: () => void): () => void {
    const listener = () => fn();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closing.abort(new McpConnectionError(this.name, "is closed."));
    this.#listeners.clear();
    const open = await this.#connecting?.catch(() => undefined);
    await (open ?? this.#connection)?.close();
    // A process that did not start in time may take a while to end.
    await Promise.all(this.#ending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The connection that stands, or a new one; one for all who wait. */
  #connect(): Promise<Connection> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    if (this.#connecting) return this.#connecting;
    if (this.#connection?.isOpen) return Promise.resolve(this.#connection);
    if (this.#wasConnected && !this.#options.reconnect)
      return Promise.reject(new McpConnectionError(this.name, "has died, and reconnect is off."));
    const waitMs = this.#nextTryAt - performance.now();
    if (waitMs > 0)
      return Promise.reject(
        new McpConnectionError(
          this.name,
          `is not there; the next try is in ${Math.ceil(waitMs)} ms. ${(this.#lastError as Error).message}`,
          { cause: this.#lastError },
        ),
      );
    this.#connecting = this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<Connection> {
    const connection = new Connection(this.#options, {
      onClose: () => {
        this.#listing = undefined;
      },
      onToolsChanged: () => {
        this.#listing = undefined;
        this.#tellChange();
      },
    });
    try {
      await connection.open(this.#closing.signal);
    } catch (error) {
      const ending = connection.close().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
      this.#failures += 1;
      this.#nextTryAt =
        performance.now() + Math.min(longestDelayMs, firstDelayMs * 2 ** (this.#failures - 1));
      this.#lastError = error;
      throw error;
    }
    this.#failures = 0;
    this.#connection = connection;
    if (this.#wasConnected) this.#tellChange();
    this.#wasConnected = true;
    return connection;
  }

  #tellChange(): void {
    for (const listener of this.#listeners) listener();
  }

  #list(): Promise<readonly AnyTool[]> {
    const listing = this.#connect().then(async (connection) => {
      const found = await connection.list(this.#closing.signal);
      const tools = this.#toTools(found);
      this.#known = tools;
      return tools;
    });
    this.#listing = listing;
    const forget = () => {
      if (this.#listing === listing) this.#listing = undefined;
    };
    listing.catch(forget);
    return listing;
  }

  #toTools(found: readonly McpTool[]): AnyTool[] {
    const { allowedTools, onWarning } = this.#options;
    const names = distinctNames(found.map(({ name }) => name));
    return found.flatMap((definition) => {
      if (allowedTools && !allowedTools.has(definition.name)) return [];
      try {
        return [this.#make(names.get(definition.name) as string, definition)];
      } catch (error) {
        onWarning(
          `The tool '${definition.name}' of the MCP server '${this.name}' is left out: ${(error as Error).message}`,
        );
        return [];
      }
    });
  }

  #make(name: string, definition: McpTool): AnyTool {
    const made = toTool(name, definition, this.#options.timeoutMs, this.#call);
    this.#definitions.set(made, definition);
    return made;
  }

  readonly #call: CallMcpTool = async (name, input, signal) => {
    const connection = await untilAborted(this.#connect(), signal);
    try {
      return await connection.call(name, input, signal);
    } catch (error) {
      if (!(error instanceof SessionLostError)) throw error;
      const renewed = await untilAborted(this.#connect(), signal);
      return renewed.call(name, input, signal);
    }
  };
}
