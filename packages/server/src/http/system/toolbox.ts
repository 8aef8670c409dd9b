// The tools that this server runs, for people: what there is, and one call by hand.

import { type AnyTool, InvalidInputError, Turn } from "rondo";
import { resultText } from "rondo/loop";
import { localLabel, withSubtools } from "../../executor/local/local-executor.ts";
import type { ConfiguredServer } from "../../executor/mcp/configured-server.ts";
import type { McpExecutor } from "../../executor/mcp/mcp-executor.ts";
import type { SandboxHost } from "../../executor/sandbox/sandbox-host.ts";
import { ApiError, invalidRequest, notFound } from "../../protocol/api-error.ts";
import { parseField } from "../../protocol/field-error.ts";
import { checkSize } from "../../protocol/json-size.ts";
import { callToolSchema, type ToolCallReply, type ToolListReply } from "../../protocol/system.ts";
import { type Logger, redact } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { cutOutput } from "./cut-output.ts";
import { sandboxTools } from "./sandbox-tools.ts";
import { shortly } from "./shortly.ts";

export interface ToolboxOptions {
  /** The tools of the config. */
  readonly tools: readonly AnyTool[];
  readonly mcp: Pick<McpExecutor, "configured">;
  readonly sandbox: Pick<SandboxHost, "known" | "allows" | "settings">;
  /** Whether clients need a key. Then nobody sees where a server is. */
  readonly hasAuth: boolean;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type ToolEntry = ToolListReply["data"][number];

/** A tool with what it is known by: its name on its server, whatever models call it. */
interface NamedTool {
  readonly label: string;
  readonly name: string;
  readonly tool: AnyTool;
}

/** For a tool that has no limit: nobody waits longer for a page. */
const maxCallMs = 600_000;

export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #local: readonly NamedTool[];

  constructor(options: ToolboxOptions) {
    this.#options = options;
    this.#local = options.tools
      .flatMap(withSubtools)
      .map((tool) => ({ label: localLabel, name: tool.wireName, tool }));
  }

  /** All tools that requests of this owner can use. Waits only shortly for MCP servers. */
  async list(owner: string): Promise<ToolListReply> {
    const { mcp, sandbox } = this.#options;
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
  async call(owner: string, body: unknown, signal: AbortSignal): Promise<ToolCallReply> {
    checkSize(body);
    const { name, server_label: label } = parseField(callToolSchema, body);
    const found = await this.#find(name, label, signal);
    const { arguments: input = {} } = body as { arguments?: object };
    const startedAtMs = performance.now();
    const outcome = await runTurn(found.tool, input, signal);
    const { text, isCut } = cutOutput(outcome.output);
    const ms = Math.round((performance.now() - startedAtMs) * 10) / 10;
    const { logger, metrics } = this.#options;
    metrics.toolCallEnded(outcome.isError ? "error" : "ok");
    const { name: tool, label: server } = found;
    logger.info("A tool was called by hand.", { owner, tool, server, ms, isError: outcome.isError });
    return { object: "tool.call", is_error: outcome.isError, output: text, is_cut: isCut, duration_ms: ms };
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
    return name === undefined ? [] : [{ label: server.label, name, tool }];
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
      },
    ];
  });
}

async function runTurn(
  tool: AnyTool,
  input: object,
  signal: AbortSignal,
): Promise<{ output: string; isError: boolean }> {
  // As if a model had made the input: it cannot set fixed arguments.
  const turn = new Turn(tool, input, { source: "model" });
  turn.timeoutMs = Math.min(turn.timeoutMs, maxCallMs);
  try {
    if (tool.isStreaming) for await (const _ of turn.yielding({ signal }));
    else await turn.returning({ signal });
    const isError = (Object(turn.output) as { isError?: unknown }).isError === true;
    return { output: resultText(turn.output), isError };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InvalidInputError && error.toolName === tool.name)
      throw invalidRequest("arguments", error.message, "invalid_arguments");
    return { output: redact(error instanceof Error ? error.message : resultText(error)), isError: true };
  }
}
