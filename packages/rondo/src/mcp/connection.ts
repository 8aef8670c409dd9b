// One connection to an MCP server. The SDK negotiates the version of the protocol.

import {
  type CallToolResult,
  Client,
  type JsonSchemaValidator,
  type Progress,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { untilAborted } from "../async/until-aborted.ts";
import { isTooDeep } from "../json/depth.ts";
import { jsonSize } from "../json/json-size.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { McpCallError, McpConnectionError } from "./mcp-error.ts";
import type { CheckedMcpOptions } from "./mcp-options.ts";
import { ToolListing } from "./tool-list.ts";
import { tracedFetch } from "./traced-fetch.ts";

export interface ConnectionEvents {
  onClose(): void;
  onToolsChanged(): void;
}

const acceptAnything: JsonSchemaValidator<never> = (data) => ({
  valid: true,
  data: data as never,
  errorMessage: undefined,
});

/** The longest timer. The turn of a call has its own limit, and aborts it. */
const forever = 2 ** 31 - 1;
/** How long a server may take to answer the probe for the new protocol, which old ones do not know. */
const probeMs = 5000;
/** How much of its standard error is quoted. */
const maxQuotedStderr = 1000;

/** Accepts any answer; `ToolListing` checks it. */
const anyResult = {
  "~standard": { version: 1, vendor: "rondo", validate: (value: unknown) => ({ value }) },
} as const;

/** The SDK rejects a whole list for one malformed tool, and accepts lists of any length: here each page is filtered first. */
class ListingClient extends Client {
  readonly #options: CheckedMcpOptions;
  #listing: ToolListing;

  constructor(options: CheckedMcpOptions, settings: ConstructorParameters<typeof Client>[1]) {
    super({ name: "rondo", version: "0.1.0" }, settings);
    this.#options = options;
    this.#listing = new ToolListing(options);
  }

  override request(...[request, ...rest]: [Parameters<Client["request"]>[0], ...unknown[]]): Promise<never> {
    const send = super.request.bind(this) as (...args: unknown[]) => Promise<never>;
    if (request.method !== "tools/list") return send(request, ...rest);
    // The first page has no cursor.
    if (request.params?.["cursor"] === undefined) this.#listing = new ToolListing(this.#options);
    return send(request, anyResult, ...rest).then((page) => this.#listing.readPage(page) as never);
  }
}

/** A call of a tool. */
export interface McpCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
  /** What connects it to its trace, such as `traceparent`. Default: nothing. */
  readonly meta?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

export class Connection {
  readonly #client: ListingClient;
  readonly #options: CheckedMcpOptions;
  readonly #events: ConnectionEvents;
  #stderr = "";
  #hasWarned = false;
  /** Why we closed the connection. */
  #fault: Error | undefined;
  #isOpen = false;
  /** What must be closed if connecting fails or is aborted. */
  #connecting: { readonly transport: Transport; readonly end: Promise<void> } | undefined;

  constructor(options: CheckedMcpOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
    this.#client = new ListingClient(options, {
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: Math.min(probeMs, options.connectTimeoutMs / 3) },
      },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => events.onToolsChanged() },
      },
      // Results are for a model to read, and not validated.
      jsonSchemaValidator: { getValidator: () => acceptAnything },
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** `2026-07-28` for example. */
  get protocolVersion(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  async open(signal: AbortSignal): Promise<void> {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- no event target
    this.#client.onclose = () => {
      this.#isOpen = false;
      this.#events.onClose();
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- no event target
    this.#client.onerror = (error) => this.#warnOnce(error);
    const timeout = Math.min(this.#options.connectTimeoutMs, forever);
    const timeIsUp = AbortSignal.timeout(timeout);
    try {
      const transport = await this.#transport();
      const connecting = this.#client.connect(transport, { signal, timeout });
      this.#connecting = { transport, end: connecting.catch(() => {}) };
      await untilAborted(connecting, AbortSignal.any([signal, timeIsUp]));
      this.#connecting = undefined;
      this.#isOpen = true;
    } catch (error) {
      void this.close(); // a process may take a while to exit
      signal.throwIfAborted();
      throw this.#failure("did not start", timeIsUp.aborted ? `no answer within ${timeout} ms` : error);
    }
  }

  async list(signal: AbortSignal): Promise<Tool[]> {
    try {
      const timeout = Math.min(this.#options.connectTimeoutMs, forever);
      const { tools } = await this.#client.listTools(undefined, { signal, timeout, cacheMode: "refresh" });
      return tools;
    } catch (error) {
      throw this.#classify(error, "did not list its tools");
    }
  }

  async call({ name, input, meta, signal }: McpCall): Promise<CallToolResult> {
    const { onProgress } = this.#options;
    const isTraced = meta !== undefined && Object.keys(meta).length > 0;
    const options = {
      signal,
      timeout: forever,
      ...(onProgress && {
        onprogress: ({ progress, total, message }: Progress) =>
          onProgress({ tool: name, progress, total, message }),
      }),
    };
    const result = await this.#client
      .callTool({ name, arguments: input, ...(isTraced && { _meta: { ...meta } }) }, options)
      .catch((error: unknown) => {
        signal.throwIfAborted();
        throw this.#classify(error, "was lost during the call");
      });
    const { maxResultBytes } = this.#options;
    if (jsonSize(result, maxResultBytes) > maxResultBytes)
      throw this.#tooMuch(`the result of '${name}' is larger than ${maxResultBytes} bytes (maxResultBytes)`);
    if (isTooDeep(result)) throw this.#tooMuch(`the result of '${name}' is nested too deeply`);
    return result;
  }

  /** Closes the connection, and ends the server's process if there is one. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#client.close().catch(() => {});
    // While connecting, the client does not close its transport, and the SDK probes with a process of its own.
    await this.#connecting?.transport.close().catch(() => {});
    await this.#connecting?.end;
  }

  async #transport(): Promise<Transport> {
    const { target } = this.#options;
    if ("url" in target)
      return new StreamableHTTPClientTransport(target.url, {
        requestInit: { headers: target.headers },
        fetch: boundedFetch(tracedFetch(target.fetch ?? fetch), this.#options.maxMessageBytes, (error) => {
          // The SDK would resume a stream that broke off, and wait.
          this.#fault = error;
          void this.close();
        }) as typeof fetch,
      });
    // Imported only here, because it needs Node.
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const { command, args, env, cwd } = target;
    const transport = new StdioClientTransport({
      command,
      args,
      env,
      stderr: "pipe",
      maxBufferSize: this.#options.maxMessageBytes,
      ...(cwd !== undefined && { cwd }),
    });
    const stderr = transport.stderr as { on(event: "data", fn: (chunk: unknown) => void): void } | null;
    stderr?.on("data", (chunk) => {
      this.#stderr = (this.#stderr + String(chunk)).slice(-maxQuotedStderr);
    });
    return transport;
  }

  /** Classifies an error. Unless it concerns one request only, it closes the connection. */
  #classify(error: unknown, problem: string): Error {
    if (error instanceof ProtocolError) return new McpCallError(this.#options.name, error);
    if (error instanceof SdkError && requestErrors.has(error.code))
      return new McpCallError(this.#options.name, error);
    const isSessionLost = error instanceof SdkHttpError && (error.status === 404 || error.status === 400);
    void this.close();
    return isSessionLost ? new SessionLostError(this.#options.name, error) : this.#failure(problem, error);
  }

  #tooMuch(problem: string): McpCallError {
    const cause = new Error(`${problem}. It was not taken; ask for less.`);
    return new McpCallError(this.#options.name, cause, "gave too much");
  }

  #failure(problem: string, cause: unknown): McpConnectionError {
    const reason = this.#fault?.message ?? (cause instanceof Error ? reasonOf(cause) : String(cause));
    const stderr = this.#stderr.trim();
    const quoted = stderr === "" ? "" : ` It said: ${stderr}`;
    return new McpConnectionError(this.#options.name, `${problem}: ${reason}.${quoted}`, { cause });
  }

  /** A server that prints something other than messages does so again and again. */
  #warnOnce(error: Error): void {
    if (this.#hasWarned || !this.#isOpen) return;
    this.#hasWarned = true;
    this.#options.onWarning(`The MCP server '${this.#options.name}' had a problem: ${error.message}`);
  }
}

/** An HTTP server lost the session because it was restarted; it did not run the call. */
export class SessionLostError extends McpConnectionError {
  constructor(server: string, cause: Error) {
    super(server, `does not know the session any more: ${cause.message}.`, { cause });
  }
}

/** Failures of one request, after which the connection is still good. */
const requestErrors = new Set<SdkErrorCode>([
  SdkErrorCode.RequestTimeout,
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.ListPaginationExceeded,
]);

/** The message with those of its causes: the most useful one, such as ECONNREFUSED, is often the deepest. */
function reasonOf(error: Error): string {
  let reason = error.message;
  for (let at = error.cause; at instanceof Error; at = at.cause)
    if (!reason.includes(at.message)) reason += `: ${at.message}`;
  return reason
    .replace(/\.$/, "")
    .replace(
      /\bspawn (.+) ENOENT\b/,
      "the program '$1' was not found; check its name, and whether it is installed",
    )
    .replace(/\bspawn (.+) EACCES\b/, "this user may not run the program '$1'");
}
