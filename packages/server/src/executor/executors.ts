// All executors of a server: which of them gets a tool of a request, what they offer together, and their items.

import type { AnyTool, JsonObject, JsonValue } from "rondo";
import { invalidRequest } from "../protocol/api-error.ts";
import type { ToolDefinition } from "../protocol/tools.ts";
import { askForOffer } from "./ask-for-offer.ts";
import { clientRunExecutors } from "./client-run/client-run-executor.ts";
import type { CallItems, OfferRequest, RecordedCall, ToolExecutor, ToolOffer } from "./executor.ts";
import { functionExecutor } from "./function/function-executor.ts";
import { isLocalServer, localExecutor } from "./local/local-executor.ts";
import { mcpItems } from "./mcp/mcp-items.ts";
import { emptyOffer, mergeOffers, type Offer } from "./offer.ts";
import type { ToolIdentity } from "./tool-identity.ts";
import { toolSearchExecutor } from "./tool-search/tool-search-executor.ts";

export interface ExecutorsOptions {
  /** The tools of the config. Default: none. */
  readonly tools?: readonly AnyTool[];
  /** Whether all requests are offered them, or those that name them. Default: `always`. */
  readonly offerTools?: "always" | "named";
  /** The executors of the config, asked before the built-in ones. Default: none. */
  readonly executors?: readonly ToolExecutor[];
  /** The one for MCP servers. Default: they are ignored. */
  readonly mcp?: ToolExecutor | undefined;
  /** Those of the sandbox. Default: their tools are refused. */
  readonly sandbox?: readonly ToolExecutor[] | undefined;
  /** How long an executor of the config may take to offer its tools. Default: 60,000. */
  readonly offerMs?: number;
}

export interface RequestedTools {
  readonly definitions: readonly ToolDefinition[];
  readonly owner: string;
  readonly responseId: string;
  /** The names that the model has for tools since the run began. Default: none yet. */
  readonly names?: ReadonlyMap<string, ToolIdentity> | undefined;
  /** What interrupted calls kept, by their idempotency keys. Default: nothing. */
  readonly kept?: ReadonlyMap<string, JsonValue> | undefined;
  /** See `OfferRequest`. */
  readonly history?: readonly JsonObject[] | undefined;
  readonly include?: readonly string[] | undefined;
}

/** A recorded call with the label of its server. */
export type LabelledCall = RecordedCall & { readonly label: string };

export class Executors {
  /** The first that can execute a definition gets it. */
  readonly #all: readonly ToolExecutor[];
  /** Those of the config. The built-in ones limit their time themselves. */
  readonly #own: ReadonlySet<ToolExecutor>;
  /** Those that may offer tools to a request without a definition of theirs. */
  readonly #offersUnasked: ReadonlySet<ToolExecutor>;
  readonly #offerMs: number;
  /** What requests that have only functions of the client are offered: the same again for the same functions. */
  readonly #ofFunctions = new WeakMap<ToolOffer, Offer>();
  readonly #items: ReadonlyMap<string, { readonly items: CallItems; readonly kind: string }>;

  constructor(options: ExecutorsOptions) {
    const {
      tools = [],
      offerTools = "always",
      executors = [],
      mcp,
      sandbox = [],
      offerMs = 60_000,
    } = options;
    this.#own = new Set(executors);
    this.#offerMs = offerMs;
    const local = localExecutor(tools, offerTools);
    const servers = mcp ? [mcp] : [];
    this.#offersUnasked = new Set([local, ...executors.filter((it) => it.offer !== undefined), ...servers]);
    this.#all = [
      local,
      ...executors,
      ...servers,
      ...sandbox,
      ...clientRunExecutors,
      toolSearchExecutor,
      functionExecutor,
    ];
    this.#items = new Map([
      [mcpItems.type, { items: mcpItems, kind: "mcp" }],
      // Of two with the same type, the first one that would get a tool.
      ...this.#all
        .toReversed()
        .flatMap(({ items, kind }) => (items ? [[items.type, { items, kind }] as const] : [])),
    ]);
  }

  start(): void {
    for (const executor of this.#all) executor.start?.();
  }

  /** Closes all, also if one fails; then throws its error. */
  async close(): Promise<void> {
    const closed = await Promise.allSettled(this.#all.map(async (executor) => executor.close?.()));
    const failed = closed.find((it) => it.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** Whether an executor gets this definition. */
  canExecute(definition: ToolDefinition): boolean {
    return this.#find(definition) !== undefined;
  }

  /** The tools for one request. Throws an `ApiError` for a definition that cannot be used. */
  async offer({ definitions, names, ...asked }: RequestedTools): Promise<Offer> {
    const claims = new Map<ToolExecutor, { index: number; definition: ToolDefinition }[]>();
    const ignored: string[] = [];
    for (let index = 0; index < definitions.length; index += 1) {
      const definition = definitions[index] as ToolDefinition;
      const executor = this.#find(definition, ignored);
      const claim = { index, definition };
      const others = executor && claims.get(executor);
      if (others) others.push(claim);
      else if (executor) claims.set(executor, [claim]);
      else if (definition.type === "code_interpreter") throw noSandbox(index, definition.type);
      else if (!isLocalServer(definition)) ignored.push(`the tool '${definition.name ?? definition.type}'`);
    }
    const mayOffer = this.#all.filter((it) => claims.has(it) || this.#offersUnasked.has(it));
    const offers = mayOffer.map((executor): ToolOffer | Promise<ToolOffer> => {
      const request: OfferRequest = { ...asked, definitions: claims.get(executor) ?? [] };
      return askForOffer(executor, request, this.#own.has(executor) ? this.#offerMs : undefined);
    });
    const ready = offers.every(isReady) ? offers : await Promise.all(offers.map(async (offer) => offer));
    if (ignored.length === 0 && ready.every(isEmpty)) return emptyOffer;
    const functions = ready[mayOffer.indexOf(functionExecutor)];
    const hasOthers = ignored.length > 0 || ready.some((offer) => offer !== functions && !isEmpty(offer));
    if (!functions || hasOthers || names?.size) return mergeOffers([{ tools: [], ignored }, ...ready], names);
    const known = this.#ofFunctions.get(functions) ?? frozen(mergeOffers(ready));
    this.#ofFunctions.set(functions, known);
    return known;
  }

  /** Whether an executor makes items of this type. */
  hasItems(type: string): boolean {
    return this.#items.has(type);
  }

  /** The items of a type; `mcp_call` for a type that no executor has any more. */
  itemsOf(type: string): CallItems {
    return this.#items.get(type)?.items ?? mcpItems;
  }

  /** The call that an item records; undefined for an item that is not an executor's. */
  readCall(item: JsonObject & { readonly type: string }): LabelledCall | undefined {
    const { items, kind = "" } = this.#items.get(item.type) ?? {};
    const call = items?.read(item);
    return call && { label: kind, ...call };
  }

  /** An executor that fails here does not get the definition, and does not keep the others from it. */
  #find(definition: ToolDefinition, ignored: string[] = []): ToolExecutor | undefined {
    return this.#all.find((executor) => {
      try {
        return executor.canExecute(definition);
      } catch (error) {
        ignored.push(`the executor '${executor.kind}', which has failed: ${String(error)}`);
        return false;
      }
    });
  }
}

function isReady(offer: ToolOffer | Promise<ToolOffer>): offer is ToolOffer {
  return !("then" in offer);
}

function isEmpty({ tools, announcements = [], ignored = [], hold, annotate }: ToolOffer): boolean {
  return tools.length + announcements.length + ignored.length === 0 && !hold && !annotate;
}

/** Requests and owners share it. */
function frozen(offer: Offer): Offer {
  for (const list of [offer.tools, offer.announcements, offer.ignored]) Object.freeze(list);
  return Object.freeze(offer);
}

/** A 400 for a tool that needs a sandbox, where there is none. */
function noSandbox(index: number, tool: string): Error {
  return invalidRequest(
    `tools[${index}]`,
    `This server has no sandbox, so it cannot run the tool '${tool}'. Leave the tool out, or give the server an executor for it.`,
    "unsupported_tool",
  );
}
