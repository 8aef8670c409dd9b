// The contract of everything that offers and runs tools: functions of the client, tools of the config, MCP servers, and
// whatever the config adds. An executor brings its own items and events; the engine knows none of them.

import type { AnyTool, JsonObject, JsonSchema, JsonValue } from "rondo";
import type { ExtensionEvent, KnownEventBody } from "../protocol/events.ts";
import type { Annotation, OutputItem } from "../protocol/items.ts";
import type { ToolDefinition } from "../protocol/tools.ts";
import type { ToolIdentity } from "./tool-identity.ts";

/** How a tool is hosted. `function` is the client's; the config may add kinds of its own. */
export type ToolKind = "function" | "local" | "mcp" | "sandbox" | (string & {});

/** A model's call. The arguments are JSON text of an object. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolResult {
  readonly callId: string;
  /** What the model reads. */
  readonly output: string;
  /** Whether `output` is an error message. Default: false. */
  readonly isError?: boolean;
  /** More fields of the call's item. Default: none. */
  readonly item?: JsonObject;
}

/** What a call reports while it runs. */
export interface CallUpdate {
  /** An event for the stream; the server adds the item's id, its place and the sequence number. */
  readonly event?: { readonly type: ExtensionEvent["type"]; readonly [field: string]: JsonValue };
  /** Changed fields of the call's item. */
  readonly item?: JsonObject;
  /** Stored before the call goes on, and handed to the next `execute` if this one does not survive a crash. */
  readonly keep?: JsonValue;
}

export interface ExecuteContext {
  /** Aborted on timeout, on cancel, and when the client disconnects. */
  readonly signal: AbortSignal;
  readonly responseId: string;
  readonly owner: string;
  /** The same each time this call runs, also after a crash. */
  readonly idempotencyKey: string;
  /** The last `keep` of an execution that a crash interrupted. Default: there was none. */
  readonly kept?: JsonValue;
}

/**
 * Offers and runs tools of one kind. The smallest executor has `kind`, `canExecute` and `execute`: each definition of a
 * request that it can execute becomes a tool. One that needs more has `offer`.
 */
export interface ToolExecutor {
  readonly kind: ToolKind;
  /** Whether a tool of a request is for this executor. The first executor that says so gets it. */
  canExecute(tool: ToolDefinition): boolean;
  /** Runs a call. An error that it throws is the call's result. */
  execute?(call: ToolCall, context: ExecuteContext): Promise<ToolResult>;
  /** Runs a call with updates on the way. Used in place of `execute` if there is one. */
  stream?(call: ToolCall, context: ExecuteContext): AsyncGenerator<CallUpdate, ToolResult, void>;
  /** How the model sees a tool that is not a function itself. Default: the tool's own name and parameters. */
  describe?(tool: ToolDefinition): { name: string; description: string; parameters: JsonSchema };
  /** The items and events of its calls. Default: `mcp_call`. */
  readonly items?: CallItems;
  /** Whether running a call twice does no harm, so that it is run again after a crash. Default: false. */
  readonly isIdempotent?: boolean;
  /** Whether an interrupted call continues from `kept`, so that it is run again after a crash. Default: false. */
  readonly canResume?: boolean;
  /** Time for one call. Default: 60,000. */
  readonly timeoutMs?: number;
  /**
   * The tools for one request, asked anew for each: also without a definition of its own. Default: one for each
   * definition.
   */
  offer?(request: OfferRequest): ToolOffer | Promise<ToolOffer>;
  /** Called when the server starts; nothing waits for it. */
  start?(): void;
  /** Called once, after the last run. */
  close?(): Promise<void>;
}

export interface OfferRequest {
  /** The definitions that this executor gets, with their places in the request. */
  readonly definitions: readonly { readonly index: number; readonly definition: ToolDefinition }[];
  readonly owner: string;
  readonly responseId: string;
  /** What interrupted calls kept, by their idempotency keys. Default: nothing. */
  readonly kept?: ReadonlyMap<string, JsonValue> | undefined;
  /** The conversation so far with the input of the request, oldest first. Default: not known yet. */
  readonly history?: readonly JsonObject[] | undefined;
  /** What the request wants to have included. Default: nothing. */
  readonly include?: readonly string[] | undefined;
}

export interface ToolOffer {
  readonly tools: readonly OfferedTool[];
  /** Items that the client sees before the model is asked. Default: none. */
  readonly announcements?: readonly Announcement[];
  /** What of the request is ignored, for the log. Default: nothing. */
  readonly ignored?: readonly string[];
  /** Takes what a run needs, and gives the function that releases it. Default: a run needs nothing. */
  readonly hold?: () => () => void;
  /** Annotations for a text of the model, once it is whole. Default: none. */
  readonly annotate?: (text: string) => readonly Annotation[];
}

export interface OfferedTool {
  /** As the model sees it, and as it runs. */
  readonly tool: AnyTool;
  readonly identity: ToolIdentity;
  /** Whether it runs here; else its calls go to the client. */
  readonly runsHere: boolean;
  readonly items: CallItems;
  /** Its place in the request. Tools with a place come first, and keep their names. Default: none. */
  readonly index?: number;
  /** The type of its definition, by which `tool_choice` may name it. Default: none. */
  readonly type?: string;
  /** The same tool under a longer name, for where its name is taken. Default: it is left out then. */
  readonly prefixed?: () => AnyTool;
  /** Whether a person has to allow each call. Default: false. */
  readonly needsApproval?: boolean;
  /** Whether a call that a crash interrupted is run again. Default: if the tool is idempotent. */
  readonly canRunAgain?: boolean;
}

/** A call with its place in the output. Stored, so that its item can be finished after a crash. */
export interface ShownCall {
  /** The item's id. */
  readonly id: string;
  readonly index: number;
  readonly label: string;
  readonly name: string;
  readonly arguments: string;
  /** The request by which a person allowed it. Default: it needed no approval. */
  readonly approvalId?: string | undefined;
  /** The id by which the client answers it. Default: it is not the client's. */
  readonly callId?: string | undefined;
  /** Fields of the item that updates of the call set. Default: none. */
  readonly fields?: JsonObject | undefined;
}

export type CallOutcome = { readonly output: string } | { readonly error: string };

/** An event about an item, without the item's id and place. */
export type CallEvent =
  | { readonly type: ExtensionEvent["type"]; readonly [field: string]: JsonValue }
  | DistributiveOmit<Extract<KnownEventBody, { item_id: string }>, "item_id" | "output_index">;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A call in a stored or sent item, as the model reads it. */
export interface RecordedCall {
  /** The label of the tool's server. Default: the executor's kind. */
  readonly label?: string;
  readonly name: string;
  readonly arguments: string;
  /** What the model reads of the result; undefined if the item does not say. */
  readonly result: string | undefined;
  readonly approvalId?: string | undefined;
}

/** The items and events that calls become, and back. */
export interface CallItems {
  /** The type of the items. */
  readonly type: OutputItem["type"];
  /** What the ids of the items begin with. */
  readonly idPrefix: string;
  /** The item when the call begins, and with its outcome. */
  item(call: ShownCall, outcome?: CallOutcome): OutputItem;
  /** Events after `response.output_item.added`. */
  begun(call: ShownCall): readonly CallEvent[];
  /** Events before `response.output_item.done`. */
  ended(call: ShownCall, outcome: CallOutcome): readonly CallEvent[];
  /** An item that follows the call's own, such as its output. Default: none. */
  followUp?(call: ShownCall, outcome: CallOutcome): Omit<Announcement, "isKnown">;
  /** The call that an item of this type records, for later requests. Undefined if the model does not need it. */
  read(item: JsonObject): RecordedCall | undefined;
}

/** An item that is not a call's. */
export interface Announcement {
  readonly idPrefix: string;
  /** With an empty id, for the server to fill in. */
  readonly added: OutputItem;
  readonly events: readonly CallEvent[];
  readonly done: OutputItem;
  /** Whether the conversation has it already, so that it is not shown again. */
  isKnown(history: readonly JsonObject[]): boolean;
}
