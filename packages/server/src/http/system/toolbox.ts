// The tools that this server runs, for people: what there is, and one call by hand.

import type { AnyTool } from "rondo";
import type { Audit } from "../../audit/audit-log.ts";
import { fingerprint } from "../../audit/fact.ts";
import { localHost, localLabel, withSubtools } from "../../executor/local/local-executor.ts";
import type { ConfiguredServer } from "../../executor/mcp/configured-server.ts";
import type { McpExecutor } from "../../executor/mcp/mcp-executor.ts";
import type { SandboxHost } from "../../executor/sandbox/sandbox-host.ts";
import type { ToolIdentity } from "../../executor/tool-identity.ts";
import { seesAddresses } from "../../protocol/addresses.ts";
import { ApiError, invalidRequest, notFound } from "../../protocol/api-error.ts";
import { parseField } from "../../protocol/field-error.ts";
import { checkSize } from "../../protocol/json-size.ts";
import { callToolSchema, type ToolCallReply, type ToolListReply } from "../../protocol/system.ts";
import type { Telemetry, TraceHeaders } from "../../run/telemetry.ts";
import { type Logger, redact } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { cutOutput } from "./cut-output.ts";
import { runTool } from "./run-tool.ts";
import { sandboxTools } from "./sandbox-tools.ts";
import { shortly } from "./shortly.ts";

export interface ToolboxOptions {
  /** The tools of the config. */
  readonly tools: readonly AnyTool[];
  /** Whether all requests have them, or those that name them. */
  readonly offerTools: "always" | "named";
  readonly mcp: Pick<McpExecutor, "configured">;
  readonly sandbox: Pick<SandboxHost, "known" | "allows" | "settings">;
  /** Whether clients need a key. Then nobody sees where a server is. */
  readonly hasAuth: boolean;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: none. */
  readonly audit?: Audit | undefined;
  /** Makes spans of calls. Default: none are made. */
  readonly telemetry?: Pick<Telemetry, "requestTracer"> | undefined;
}

/** How many lists and objects arguments may have: each is copied and checked, which takes microseconds. */
const maxParts = 100_000;

/** Who calls. */
interface Caller {
  readonly owner: string;
  readonly requestId: string;
  /** Which trace the request belongs to. Default: none. */
  readonly traceHeaders?: TraceHeaders;
}

type ToolEntry = ToolListReply["data"][number];

/** A tool with its identity, whatever models call it. */
interface NamedTool extends ToolIdentity {
  readonly tool: AnyTool;
}

export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #local: readonly NamedTool[];

  constructor(options: ToolboxOptions) {
    this.#options = options;
    this.#local = options.tools
      .flatMap(withSubtools)
      .map((tool) => ({ host: localHost, label: localLabel, name: tool.wireName, tool }));
  }

  /** All tools that requests of this owner can use. Waits only shortly for MCP servers. */
  async list(owner: string): Promise<ToolListReply> {
    const { mcp, sandbox, offerTools } = this.#options;
    await Promise.all(mcp.configured.map((server) => shortly(server.look())));
    const local = this.#local.map(({ name, label, tool }): ToolEntry => {
      const { description, parameters } = tool.toOpenAI().function;
      return {
        name,
        kind: "local",
        server_label: label,
        description,
        input_schema: parameters,
        requires_approval: false,
        is_offered: offerTools === "always",
      };
    });
    return {
      object: "list",
      data: [...local, ...mcp.configured.flatMap(toolsOf), ...sandboxTools(sandbox, owner)],
      servers: mcp.configured.map((server) => this.#serverState(server)),
    };
  }

  /**
   * Runs one call as a turn: with the tool's time limit, its lock and its hooks. A failure of the tool is a result.
   * Throws an `ApiError` if there is no such tool, or the arguments do not fit it.
   */
  async call(
    { traceHeaders = {}, ...who }: Caller,
    body: unknown,
    signal: AbortSignal,
  ): Promise<ToolCallReply> {
    checkSize(body, 0, maxParts);
    const { name, server_label: label } = parseField(callToolSchema, body);
    const { tool, ...identity } = await this.#find(name, label, signal);
    const { arguments: input = {} } = body as { arguments?: object };
    const ended = await this.#audited(identity, input, who);
    const hidesAddresses = identity.host === "config" && !seesAddresses(who.owner);
    const tracer = this.#options.telemetry?.requestTracer(traceHeaders);
    const startedAtMs = performance.now();
    const msSoFar = () => Math.round((performance.now() - startedAtMs) * 10) / 10;
    try {
      const { output, isError } = await runTool(tool, input, { signal, tracer, hidesAddresses });
      const ms = msSoFar();
      const outcome = isError ? "error" : "ok";
      const { logger, metrics } = this.#options;
      metrics.toolCallEnded(outcome);
      logger.info("A tool was called by hand.", {
        owner: who.owner,
        requestId: who.requestId,
        server: identity.label,
        tool: identity.name,
        outcome,
        ms,
      });
      await ended?.(outcome, ms, output);
      const { text, isCut } = cutOutput(output);
      return { object: "tool.call", is_error: isError, output: text, is_cut: isCut, duration_ms: ms };
    } catch (error) {
      void ended?.(error instanceof ApiError ? "invalid" : "aborted", msSoFar());
      throw error;
    }
  }

  /** Writes down that a call begins, before it does; gives the function that writes down its end. */
  async #audited(tool: ToolIdentity, input: object, who: Omit<Caller, "traceHeaders">) {
    const { audit } = this.#options;
    if (!audit) return undefined;
    const { bytes, sha256 } = fingerprint(JSON.stringify(input));
    const fact = { ...who, tool };
    const started = audit.record({
      action: "call.started",
      ...fact,
      argumentsBytes: bytes,
      argumentsSha256: sha256,
    });
    /** Resolves when the result may be shown: it is written down, or cannot be, but the call has happened. */
    const ended = async (outcome: string, ms: number, output?: string) => {
      const result = output === undefined ? undefined : fingerprint(output);
      audit.record({
        action: "call.ended",
        started,
        ...fact,
        resultBytes: result?.bytes,
        resultSha256: result?.sha256,
        outcome,
        ms,
      });
      await audit.settled()?.catch(() => {});
    };
    try {
      await audit.settled();
    } catch (error) {
      void ended("aborted", 0);
      throw error;
    }
    return ended;
  }

  async #find(name: string, label: string | undefined, signal: AbortSignal): Promise<NamedTool> {
    const { mcp } = this.#options;
    const isSame = (one: NamedTool) => one.name === name || one.tool.name === name;
    const local = label === undefined || label === localLabel ? this.#local.find(isSame) : undefined;
    if (local) return local;
    const server = mcp.configured.find((it) => it.label === label);
    if (server) {
      const known = namedTools(server).find(isSame) ?? (await this.#listed(server, signal)).find(isSame);
      if (known) return known;
    }
    const anywhere = label === undefined ? mcp.configured.flatMap(namedTools).filter(isSame) : [];
    const [only, second] = anywhere;
    if (only && second === undefined) return only;
    if (only)
      throw invalidRequest(
        "server_label",
        `Several servers have a tool ${JSON.stringify(name)}: ${anywhere.map((it) => it.label).join(", ")}. Name one with server_label.`,
      );
    const place = label === undefined ? "" : ` of ${JSON.stringify(label)}`;
    throw notFound(
      `There is no tool ${JSON.stringify(name)}${place} that can be called here. GET /v1/tools lists all; those of the kind sandbox only models can call.`,
      "tool_not_found",
      "name",
    );
  }

  /** The tools of a server that may have to be connected to first. */
  async #listed(server: ConfiguredServer, signal: AbortSignal): Promise<NamedTool[]> {
    const gone = Promise.withResolvers<never>();
    const leave = () => gone.reject(signal.reason as Error);
    signal.addEventListener("abort", leave, { once: true });
    try {
      const listed = await Promise.race([server.tools({ isNamed: true }), gone.promise]);
      if (!(listed instanceof Error)) return namedTools(server);
      const message = `The MCP server ${JSON.stringify(server.label)} is not there: ${this.#reason(listed)}`;
      throw new ApiError(message, { status: 502, code: "mcp_server_unavailable", param: "server_label" });
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #serverState(server: ConfiguredServer): ToolListReply["servers"][number] {
    const { state, failure } = server.server;
    const error = state === "failed" && failure ? this.#reason(failure) : null;
    return { label: server.label, state, error, tools: server.known.length };
  }

  #reason({ message }: Error): string {
    return this.#options.hasAuth ? "It cannot be reached. The server's log says why." : redact(message);
  }
}

function namedTools(server: ConfiguredServer): NamedTool[] {
  return server.known.flatMap((tool) => {
    const name = server.server.definitionOf(tool)?.name;
    return name === undefined ? [] : [{ host: "config", label: server.label, name, tool }];
  });
}

function toolsOf(server: ConfiguredServer): ToolEntry[] {
  return server.known.flatMap((tool): ToolEntry[] => {
    const definition = server.server.definitionOf(tool);
    if (!definition) return [];
    return [
      {
        name: definition.name,
        kind: "mcp",
        server_label: server.label,
        description: tool.metadata.description,
        input_schema: definition.inputSchema,
        requires_approval: server.needsApproval(definition),
        is_offered: server.settings.offer !== "named",
      },
    ];
  });
}
