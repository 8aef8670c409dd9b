// The tools of one run: those of the request and those of the server, each with who runs it.

import { type AnyTool, type JsonSchema, type JsonValue, RondoError, tool } from "rondo";
import { invalidRequest } from "../protocol/api-error.ts";
import type { ToolDefinition } from "../protocol/tools.ts";
import type { ToolExecutor } from "./executor.ts";
import { functionExecutor } from "./function-executor.ts";
import type { McpOffered } from "./mcp/mcp-tools.ts";
import { approvalTest } from "./mcp/tool-filter.ts";
import { identityKey, type ToolIdentity } from "./tool-identity.ts";

/** The server label of tools that run in this process. */
export const localLabel = "local";

export interface OfferOptions {
  /** The tools of the request. */
  readonly requested: readonly ToolDefinition[];
  /** The tools of the config. */
  readonly local: readonly AnyTool[];
  /** The executors of the config, asked before the built-in ones. */
  readonly executors: readonly ToolExecutor[];
  /** The tools of MCP servers. Default: none. */
  readonly mcp?: readonly McpOffered[] | undefined;
  /** Whether a tool of the request stands for an MCP server whose tools are among those. Default: none does. */
  readonly isServer?: ((definition: ToolDefinition) => boolean) | undefined;
  /** The names that the model has for tools already: none of them comes to mean another tool. Default: none. */
  readonly names?: ReadonlyMap<string, ToolIdentity> | undefined;
  readonly responseId: string;
  readonly owner: string;
}

export interface Offer {
  /** What the model is offered. */
  readonly tools: readonly AnyTool[];
  /** Whether it runs here; else its calls go to the client. */
  runsHere(tool: AnyTool): boolean;
  /** Whether anything can run here at all; else the client decides when to ask again. */
  readonly isAgentic: boolean;
  /** A tool by its name, its own or the one that models see. */
  find(name: string): Offered | undefined;
  /** A tool of a server, by its name there. */
  findOn(label: string, name: string): Offered | undefined;
  /** The very tool that a call belongs to. */
  findSame(identity: ToolIdentity): Offered | undefined;
  /** Tools of the request that nobody can run, for the log. */
  readonly ignored: readonly string[];
}

/** An offer without tools. */
export const nothing: Offer = {
  tools: [],
  runsHere: () => true,
  isAgentic: false,
  find: () => undefined,
  findOn: () => undefined,
  findSame: () => undefined,
  ignored: [],
};

export interface Offered {
  readonly tool: AnyTool;
  readonly runsHere: boolean;
  readonly identity: ToolIdentity;
  /** Whether a person has to allow each call. Default: false. */
  readonly needsApproval?: boolean | undefined;
}

/** Decides for each tool who runs it. Of two tools with one name, the request's is offered. */
export function offerTools(options: OfferOptions): Offer {
  const { requested, local, executors, mcp = [], isServer = () => false, responseId, owner } = options;
  const { names = new Map<string, ToolIdentity>() } = options;
  if (requested.length === 0 && local.length === 0 && mcp.length === 0) return nothing;
  const byName = new Map<string, Offered>();
  const ignored: string[] = [];
  const add = (offered: Offered) => {
    if (!byName.has(offered.tool.wireName)) byName.set(offered.tool.wireName, offered);
  };
  for (const [index, definition] of requested.entries()) {
    if (isLocalServer(definition) || isServer(definition)) continue;
    const executor = [...executors, functionExecutor].find((it) => it.canExecute(definition));
    if (executor) add(toOffered(definition, index, executor, { responseId, owner }));
    else if (definition.type === "code_interpreter") throw noSandbox(index);
    else ignored.push(definition.name ?? definition.type);
  }
  for (const it of localChoice(requested, local))
    add({ tool: it, runsHere: true, identity: { host: "local", label: localLabel, name: it.wireName } });
  const nameOf = new Map(Array.from(names, ([name, identity]) => [identityKey(identity), name]));
  for (const { tool: own, prefixed, identity, needsApproval } of mcp) {
    const key = identityKey(identity);
    const isTaken = (name: string) => {
      const owner = names.get(name);
      return byName.has(name) || (owner !== undefined && identityKey(owner) !== key);
    };
    const before = nameOf.get(key) ?? own.wireName;
    const made = isTaken(own.wireName) || before !== own.wireName ? prefixed() : own;
    if (isTaken(made.wireName)) ignored.push(`${identity.label}: ${identity.name}`);
    else add({ tool: made, runsHere: true, identity, needsApproval });
  }

  const all = [...byName.values()];
  for (const it of all) checkSubtools(it.tool, byName);
  const byFullName = new Map(all.map((offered) => [offered.tool.name, offered]));
  const byIdentity = new Map(all.map((offered) => [identityKey(offered.identity), offered]));
  const onServer = new Map(
    all.toReversed().map((offered) => [serverKey(offered.identity.label, offered.identity.name), offered]),
  );
  return {
    tools: all.map((offered) => offered.tool),
    runsHere: (it) => byName.get(it.wireName)?.runsHere ?? true,
    isAgentic: all.some(({ runsHere }) => runsHere),
    find: (name) => byFullName.get(name) ?? byName.get(name),
    findOn: (label, name) => onServer.get(serverKey(label, name)),
    findSame: (identity) => byIdentity.get(identityKey(identity)),
    ignored,
  };
}

function serverKey(label: string, name: string): string {
  return JSON.stringify([label, name]);
}

/** `{ type: "mcp", server_label: "local" }` stands for the tools of the config. */
function isLocalServer({ type, server_label }: ToolDefinition): boolean {
  return type === "mcp" && server_label === localLabel;
}

/** All tools of the config, unless the request names the ones that it wants. */
function localChoice(requested: readonly ToolDefinition[], local: readonly AnyTool[]): AnyTool[] {
  const all = local.flatMap(withSubtools);
  const names = allowedNames(requested.find(isLocalServer)?.["allowed_tools"]);
  if (!names) return all;
  return all.filter(({ name, wireName }) => names.includes(name) || names.includes(wireName));
}

/** A list of names, or a filter that holds one. */
function allowedNames(allowed: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (typeof allowed !== "object" || allowed === null) return undefined;
  if (Array.isArray(allowed)) return allowed;
  return Array.isArray(allowed["tool_names"]) ? allowed["tool_names"] : undefined;
}

function withSubtools(it: AnyTool): AnyTool[] {
  return [it, ...it.subtools.flatMap(withSubtools)];
}

/** The loop offers a tool with its subtools, so that none of them can be replaced alone. */
function checkSubtools(parent: AnyTool, byName: ReadonlyMap<string, Offered>): void {
  for (const { name, wireName } of withSubtools(parent).slice(1))
    if ((byName.get(wireName)?.tool.name ?? name) !== name)
      throw invalidRequest(
        "tools",
        `The name '${wireName}' belongs to a part of the server's tool '${parent.name}'. Give your function another name.`,
      );
}

function toOffered(
  definition: ToolDefinition,
  index: number,
  executor: ToolExecutor,
  { responseId, owner }: { responseId: string; owner: string },
): Offered {
  const { name, description, parameters } = executor.describe?.(definition) ?? asFunction(definition, index);
  const options = {
    name,
    description: description || name,
    input: { type: "object", ...parameters } as JsonSchema,
    registry: false,
    idempotent: executor.isIdempotent ?? false,
    ...(executor.timeoutMs !== undefined && { timeoutMs: executor.timeoutMs }),
  } as const;
  try {
    const made = tool(options, async (input, context) => {
      const call = { id: context.callId ?? "", name, arguments: JSON.stringify(input) };
      const { signal, idempotencyKey } = context;
      const result = await executor.execute(call, { signal, responseId, owner, idempotencyKey });
      // In the shape of MCP's results, which say themselves whether they are errors.
      return { content: [{ type: "text", text: result.output }], isError: result.isError ?? false };
    });
    const isClients = executor.kind === "function";
    // A server that the config has an executor for keeps its label.
    const { server_label: own } = definition;
    const label = typeof own === "string" ? own : executor.kind;
    const host = isClients ? "client" : `executor:${executor.kind}`;
    const identity = { host, label, name: made.wireName };
    // The config trusts its executors, so that nobody is asked unless the request says so.
    const isAsked = definition.type === "mcp" ? approvalTest(definition["require_approval"]) : undefined;
    const needsApproval = isAsked?.({ name: made.wireName, inputSchema: options.input }) ?? false;
    return { tool: made, runsHere: !isClients, identity, needsApproval };
  } catch (error) {
    if (error instanceof RondoError)
      throw invalidRequest(`tools[${index}]`, `The tool '${name}' cannot be used: ${error.message}`);
    throw error;
  }
}

function asFunction(definition: ToolDefinition, index: number) {
  const { name, description, parameters } = definition;
  if (typeof name !== "string")
    throw invalidRequest(
      `tools[${index}].name`,
      `A tool of the type '${definition.type}' needs a name here.`,
    );
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: (typeof parameters === "object" && parameters !== null ? parameters : {}) as JsonSchema,
  };
}

function noSandbox(index: number): Error {
  return invalidRequest(
    `tools[${index}]`,
    "This server has no sandbox, so it cannot run the tool 'code_interpreter'. Leave the tool out, or give the server an executor for it.",
    "unsupported_tool",
  );
}
