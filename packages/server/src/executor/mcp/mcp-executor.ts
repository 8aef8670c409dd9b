// Tools of MCP servers: of the config, and of requests by URL.

import type { AnyTool } from "rondo";
import type { McpServer } from "rondo/mcp";
import { hideAddress, seesAddresses } from "../../protocol/addresses.ts";
import { invalidRequest } from "../../protocol/api-error.ts";
import type { ToolDefinition } from "../../protocol/tools.ts";
import type { Announcement, OfferedTool, OfferRequest, ToolExecutor, ToolOffer } from "../executor.ts";
import { isLocalServer } from "../local/local-executor.ts";
import { urlHost } from "../tool-identity.ts";
import type { ConfiguredServer, McpServerSettings } from "./configured-server.ts";
import { mcpItems } from "./mcp-items.ts";
import { redact } from "./redact.ts";
import { type RequestServer, readRequestServer, type ServerDefinition } from "./request-server.ts";
import type { Pooled, ServerPool } from "./server-pool.ts";
import { approvalTest, type ToolTest, toolFilter } from "./tool-filter.ts";
import { toolList } from "./tool-list.ts";
import { type Resolve, refusalIn, type UrlGuard, urlGuard } from "./url-guard.ts";

export interface McpExecutorOptions {
  /** By label. */
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  /** Private hosts that requests may name. */
  readonly allowPrivate: readonly string[];
  readonly onWarning: (message: string) => void;
  /** How long a request waits for a server of the config that it does not name, once. Default: 5,000. */
  readonly patienceMs?: number | undefined;
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve | undefined;
}

const noTools: ToolOffer = { tools: [] };

/** A server for one run. */
interface Source {
  readonly host: string;
  readonly label: string;
  readonly server: McpServer;
  readonly isAllowed: ToolTest;
  readonly needsApproval: ToolTest;
  /** Whether the request names it: its tools are then listed in the output. */
  readonly isNamed: boolean;
  readonly list: () => Promise<readonly AnyTool[] | Error>;
  readonly hold?: () => () => void;
}

export class McpExecutor implements ToolExecutor {
  readonly kind = "mcp";
  readonly items = mcpItems;
  readonly #options: McpExecutorOptions;
  readonly #configured: ReadonlyMap<string, ConfiguredServer>;
  readonly #guard: UrlGuard;
  #pool: Promise<ServerPool> | undefined;

  private constructor(options: McpExecutorOptions, configured: ReadonlyMap<string, ConfiguredServer>) {
    const { allowPrivate, resolve } = options;
    this.#options = options;
    this.#configured = configured;
    this.#guard = urlGuard({ allowPrivate, resolve });
  }

  /** Loads the client of MCP if the config has servers; otherwise the first request that names one does. */
  static async create(options: McpExecutorOptions): Promise<McpExecutor> {
    const servers = Object.entries(options.servers);
    const configured = new Map<string, ConfiguredServer>();
    if (servers.length > 0) {
      const module = await import("./configured-server.ts");
      for (const [label, settings] of servers)
        configured.set(label, new module.ConfiguredServer(label, settings, options));
    }
    return new McpExecutor(options, configured);
  }

  /** The servers of the config. */
  get configured(): readonly ConfiguredServer[] {
    return [...this.#configured.values()];
  }

  /** A definition of an MCP server, of the config or by its URL. */
  canExecute(definition: ToolDefinition): boolean {
    return definition.type === "mcp" && !isLocalServer(definition);
  }

  /** Connects to the servers of the config in the background. */
  start(): void {
    for (const server of this.#configured.values()) void server.tools({ isNamed: true });
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#pool?.then((pool) => pool.close()),
      ...Array.from(this.#configured.values(), (server) => server.close()),
    ]);
  }

  /** The tools for a request of this owner. Throws an `ApiError` for a server that cannot be used. */
  offer(request: OfferRequest): ToolOffer | Promise<ToolOffer> {
    const { definitions } = request;
    return this.#configured.size === 0 && definitions.length === 0 ? noTools : this.#offer(request);
  }

  async #offer({ definitions, owner }: OfferRequest): Promise<ToolOffer> {
    const ignored: string[] = [];
    const sources = new Map<string, Source>();
    for (const { definition: tool, index } of definitions) {
      const definition = tool as ServerDefinition;
      const source = await this.#namedSource(definition, owner, `tools[${index}]`);
      if (!source) ignored.push(`the MCP server '${definition.server_label}'`);
      else if (sources.has(source.label))
        throw invalidRequest(
          `tools[${index}].server_label`,
          `tools[${index}].server_label: expected a label that no other server has, got "${source.label}" again. Rename one of them.`,
        );
      else sources.set(source.label, source);
    }
    for (const [label, configured] of this.#configured)
      if (configured.settings.offer !== "named" && !sources.has(label))
        sources.set(label, configuredSource(configured, undefined, owner));

    const found = await Promise.all(Array.from(sources.values(), toolsOf));
    return {
      tools: found.flatMap(({ tools }) => tools),
      announcements: found.flatMap(({ list }) => list ?? []),
      ignored,
      hold: () => {
        const releases = Array.from(sources.values(), (source) => source.hold?.());
        return () => {
          for (const release of releases) release?.();
        };
      },
    };
  }

  /** Undefined for a hosted connector, which this server does not have. */
  async #namedSource(definition: ServerDefinition, owner: string, at: string): Promise<Source | undefined> {
    const { server_label: label, server_url: url, connector_id, tunnel_id } = definition;
    const configured = this.#configured.get(label);
    if (typeof url !== "string") {
      if (configured) return configuredSource(configured, definition, owner);
      if (typeof connector_id === "string" || typeof tunnel_id === "string") return undefined;
      const known = [...this.#configured.keys()].map((it) => JSON.stringify(it)).join(", ");
      throw invalidRequest(
        `${at}.server_label`,
        `${at}.server_label: expected the label of an MCP server of this server (${known || "it has none"}), got ${JSON.stringify(label)}. For another one, add its server_url.`,
      );
    }
    const wanted = readRequestServer(definition, owner, at);
    const refuse = (error: unknown) => {
      const refusal = refusalIn(error);
      if (refusal)
        throw invalidRequest(`${at}.server_url`, `${at}.server_url: ${refusal.message}.`, "mcp_url_refused");
    };
    try {
      this.#guard.check(wanted.url);
    } catch (error) {
      refuse(error);
      throw error;
    }
    const pooled = await this.#connectionTo(wanted, owner);
    return {
      host: urlHost(wanted.url),
      label: wanted.label,
      server: pooled.server,
      isAllowed: toolFilter(definition["allowed_tools"]) ?? all,
      // The API's default is to ask.
      needsApproval: approvalTest(definition["require_approval"]) ?? all,
      isNamed: true,
      hold: () => pooled.hold(),
      list: async () => {
        try {
          return await pooled.server.tools();
        } catch (error) {
          refuse(error);
          return new Error(redact((error as Error).message, wanted.headers), { cause: error });
        }
      },
    };
  }

  async #connectionTo(wanted: RequestServer, owner: string): Promise<Pooled> {
    this.#pool ??= import("./server-pool.ts").then(
      (module) => new module.ServerPool({ guard: this.#guard, onWarning: this.#options.onWarning }),
    );
    return (await this.#pool).get(owner, wanted);
  }
}

const all: ToolTest = () => true;

/** A request can only be stricter than the config. */
function configuredSource(
  configured: ConfiguredServer,
  definition: ToolDefinition | undefined,
  owner: string,
): Source {
  const { label, server } = configured;
  const byRequest = approvalTest(definition?.["require_approval"]);
  return {
    host: "config",
    label,
    server,
    isAllowed: toolFilter(definition?.["allowed_tools"]) ?? all,
    needsApproval: (tool) => configured.needsApproval(tool) || (byRequest?.(tool) ?? false),
    isNamed: definition !== undefined,
    list: async () => {
      const listed = await configured.tools({ isNamed: definition !== undefined });
      if (!(listed instanceof Error) || seesAddresses(owner)) return listed;
      return new Error(hideAddress(listed.message, configured.settings.url), { cause: listed });
    },
  };
}

async function toolsOf(source: Source): Promise<{ tools: OfferedTool[]; list: Announcement | undefined }> {
  const { host, label, server, isAllowed, needsApproval, isNamed, list } = source;
  const listed = await list();
  if (listed instanceof Error)
    return { tools: [], list: isNamed ? toolList(label, { error: listed.message }) : undefined };
  const allowed = listed.flatMap((tool) => {
    const definition = server.definitionOf(tool);
    return definition && isAllowed(definition) ? [{ tool, definition }] : [];
  });
  const tools = allowed.map(
    ({ tool, definition }): OfferedTool => ({
      tool,
      prefixed: () => server.prefixed(tool),
      identity: { host, label, name: definition.name },
      runsHere: true,
      items: mcpItems,
      needsApproval: needsApproval(definition),
    }),
  );
  const definitions = allowed.map(({ definition }) => definition);
  return { tools, list: isNamed ? toolList(label, { tools: definitions }) : undefined };
}
