// An MCP server as a source of tools. It connects when first needed, and again after the connection was lost.

import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/client";
import { untilAborted } from "../async/until-aborted.ts";
import { tool } from "../tool/define.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolSource } from "../tool/tool-source.ts";
import { Connection, type McpCall, SessionLostError } from "./connection.ts";
import { McpConnectionError } from "./mcp-error.ts";
import { type CheckedMcpOptions, checkMcpOptions, type McpServerOptions } from "./mcp-options.ts";
import { distinctNames, shortName } from "./names.ts";
// oxlint-disable-next-line import/no-unassigned-import -- tools run as turns, also where `rondo` is not imported
import "../turn/turn.ts";

/** A tool as its server describes it. */
export interface McpToolDefinition {
  /** Its name on the server; the name that models see may differ. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** `idle`: not connected, because nobody needed it yet, or since the connection was lost. */
export type McpServerState = "idle" | "connecting" | "connected" | "failed";

export interface McpServer extends ToolSource, AsyncDisposable {
  readonly name: string;
  /** Whether it is connected now. `failed`: the last attempt failed, and `failure` says why. */
  readonly state: McpServerState;
  /** Why the last attempt to connect failed; undefined if it did not. */
  readonly failure: Error | undefined;
  /** The negotiated version of the protocol; undefined before the first connection. */
  readonly protocolVersion: string | undefined;
  /**
   * Its tools, cached until the server reports a change or is connected to again. Rejects with
   * `McpConnectionError` if the server cannot be reached, unless its tools are known from before.
   */
  tools(signal?: AbortSignal): Promise<readonly AnyTool[]>;
  /** The same tool with the name of the server in front. */
  prefixed(tool: AnyTool): AnyTool;
  /** The server's own definition of one of its tools; undefined for other tools. */
  definitionOf(tool: AnyTool): McpToolDefinition | undefined;
  /** Calls `fn` when the server reports changed tools or is connected to again. Returns a function that unsubscribes. */
  onToolsChanged(fn: () => void): () => void;
  /** Closes the connection for good, and ends the process if there is one. Calls in flight fail. */
  close(): Promise<void>;
}

/**
 * An MCP server, for the `tools` of a `Client` or of `query()`. Nothing is started before its tools are first used.
 * Close it, or declare it with `await using`: a process that is not closed keeps this one alive.
 *
 * Defaults: all its tools up to 512, 60,000 ms for a call, 30,000 ms to connect, results of up to 4 MB, and
 * reconnecting when the connection was lost.
 */
export function mcpServer(options: McpServerOptions): McpServer {
  return new ConnectedServer(checkMcpOptions(options));
}

const firstDelayMs = 500;
const maxDelayMs = 30_000;

class ConnectedServer implements McpServer {
  readonly name: string;
  readonly #options: CheckedMcpOptions;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #definitions = new WeakMap<AnyTool, McpTool>();
  readonly #prefixed = new WeakMap<AnyTool, AnyTool>();
  /** Connections that failed to open and are being closed. */
  readonly #ending = new Set<Promise<void>>();
  #connecting: Promise<Connection> | undefined;
  #connection: Connection | undefined;
  #wasConnected = false;
  /** Consecutive failed attempts, and when the next is allowed. */
  #failures = 0;
  #nextAttemptAt = 0;
  #lastError: unknown;
  #listing: Promise<readonly AnyTool[]> | undefined;
  #known: readonly AnyTool[] | undefined;

  constructor(options: CheckedMcpOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get state(): McpServerState {
    if (this.#connecting) return "connecting";
    if (this.#connection?.isOpen) return "connected";
    return this.#failures > 0 ? "failed" : "idle";
  }

  get failure(): Error | undefined {
    return this.#failures > 0 ? (this.#lastError as Error) : undefined;
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
    // A process that did not start in time may take a while to exit.
    await Promise.all(this.#ending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The open connection, or a new one, shared by all callers that wait for it. */
  #connect(): Promise<Connection> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    if (this.#connecting) return this.#connecting;
    if (this.#connection?.isOpen) return Promise.resolve(this.#connection);
    if (this.#wasConnected && !this.#options.reconnect)
      return Promise.reject(new McpConnectionError(this.name, "has died, and reconnect is off."));
    const waitMs = this.#nextAttemptAt - performance.now();
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
        this.#notifyChange();
      },
    });
    try {
      await connection.open(this.#closing.signal);
    } catch (error) {
      const ending = connection.close().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
      this.#failures += 1;
      this.#nextAttemptAt =
        performance.now() + Math.min(maxDelayMs, firstDelayMs * 2 ** (this.#failures - 1));
      this.#lastError = error;
      throw error;
    }
    this.#failures = 0;
    this.#connection = connection;
    if (this.#wasConnected) this.#notifyChange();
    this.#wasConnected = true;
    return connection;
  }

  #notifyChange(): void {
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

  /** Throws where this library cannot use the schema of the tool. */
  #make(name: string, definition: McpTool): AnyTool {
    const { title, description, inputSchema, outputSchema, annotations } = definition;
    const made = tool(
      {
        name,
        description: description ?? title ?? annotations?.title ?? "",
        input: inputSchema as JsonSchema,
        ...(outputSchema && { output: outputSchema }),
        // Hints are only claims, but a server that makes them must tolerate a second call.
        idempotent: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
        timeoutMs: this.#options.timeoutMs,
        registry: false,
      },
      async (input, { signal, tracer, turn }) =>
        this.#call({
          name: definition.name,
          input,
          meta: tracer?.headers?.({ turnId: turn.uuid }),
          signal,
        }),
    );
    this.#definitions.set(made, definition);
    return made;
  }

  async #call(call: McpCall): Promise<CallToolResult> {
    const { signal } = call;
    const connection = await untilAborted(this.#connect(), signal);
    try {
      return await connection.call(call);
    } catch (error) {
      if (!(error instanceof SessionLostError)) throw error;
      const renewed = await untilAborted(this.#connect(), signal);
      return renewed.call(call);
    }
  }
}
