// The output of a response while it grows: one item after the other, each with its events in their order.

import type { ClientTool } from "../protocol/client-tools.ts";
import { newId } from "../protocol/ids.ts";
import type {
  CustomToolCallItem,
  FunctionCallItem,
  McpApprovalRequestItem,
  McpCallError,
  McpCallItem,
  McpListToolsItem,
  MessageItem,
  OutputItem,
  OutputText,
  ReasoningItem,
} from "../protocol/items.ts";
import type { Journal } from "./journal.ts";

/** An item of text that grows: what the model says, or what it thinks. */
export interface OpenText {
  readonly type: "message" | "reasoning";
  readonly id: string;
  readonly index: number;
  text: string;
}

/** A call that the server answers. */
export interface OpenCall {
  readonly id: string;
  readonly index: number;
  readonly label: string;
  readonly name: string;
  readonly arguments: string;
  /** By which a person has allowed it. Default: it needed no approval. */
  readonly approvalId?: string | undefined;
}

/** A call that the client is to run. */
export interface ClientCall {
  readonly callId: string;
  readonly arguments: string;
  /** As the client knows it. */
  readonly tool: ClientTool;
}

export interface OutputOptions {
  readonly journal: Journal;
  /** Makes of a thought what only this server can read; for clients that ask for it. */
  readonly sealThought?: ((thought: string) => string) | undefined;
  /** The items of an earlier start of the run, and the one that was open then. */
  readonly items?: readonly (OutputItem | undefined)[] | undefined;
  readonly openText?: OpenText | undefined;
  /** Default: -1. */
  readonly turn?: number | undefined;
}

export class Output {
  readonly #journal: Journal;
  readonly #sealThought: ((thought: string) => string) | undefined;
  /** By output index; a call that is not answered yet has its place, but no item. */
  readonly #items: (OutputItem | undefined)[];
  #openText: OpenText | undefined;
  /** Which answer of the model is being written, from 0; -1 before the first. */
  turn: number;

  constructor({ journal, sealThought, items = [], openText, turn = -1 }: OutputOptions) {
    this.#journal = journal;
    this.#sealThought = sealThought;
    this.#items = [...items];
    this.#openText = openText;
    this.turn = turn;
  }

  /** The finished items, in order. */
  get items(): OutputItem[] {
    return this.#items.filter((item) => item !== undefined);
  }

  /** Adds to the text, or to the thought; begins an item where the other kind was before. */
  addText(type: OpenText["type"], delta: string): void {
    if (delta === "") return;
    if (this.#openText && this.#openText.type !== type) this.closeText("completed");
    this.#openText ??= this.#beginText(type);
    const open = this.#openText;
    open.text += delta;
    const place = { item_id: open.id, output_index: open.index, content_index: 0, delta };
    this.#journal.emit(
      type === "message"
        ? { type: "response.output_text.delta", ...place, logprobs: [] }
        : { type: "response.reasoning_text.delta", ...place },
    );
  }

  /** Ends the item of text that grows, if there is one. */
  closeText(status: "completed" | "incomplete"): void {
    const open = this.#openText;
    if (!open) return;
    this.#openText = undefined;
    const { id, index, text } = open;
    const place = { item_id: id, output_index: index, content_index: 0 };
    if (open.type === "message") {
      this.#journal.emit({ type: "response.output_text.done", ...place, text, logprobs: [] });
      this.#journal.emit({ type: "response.content_part.done", ...place, part: textPart(text) });
      this.#finish(index, { type: "message", id, role: "assistant", status, content: [textPart(text)] });
    } else {
      const part = { type: "reasoning_text", text } as const;
      this.#journal.emit({ type: "response.reasoning_text.done", ...place, text });
      this.#journal.emit({ type: "response.content_part.done", ...place, part });
      const sealed = this.#sealThought && { encrypted_content: this.#sealThought(text) };
      this.#finish(index, { type: "reasoning", id, summary: [], content: [part], ...sealed, status });
    }
  }

  /** Shows a call that the server is about to answer. */
  beginCall(call: Omit<OpenCall, "id" | "index">): OpenCall {
    const open: OpenCall = { id: newId("mcp"), index: this.#next(), ...call };
    const place = { item_id: open.id, output_index: open.index };
    const item = { ...mcpCall(open, "in_progress"), arguments: "" };
    this.#journal.emit({ type: "response.output_item.added", output_index: open.index, item });
    this.#journal.emit({ type: "response.mcp_call.in_progress", ...place });
    this.#journal.emit({ type: "response.mcp_call_arguments.delta", ...place, delta: open.arguments });
    this.#journal.emit({ type: "response.mcp_call_arguments.done", ...place, arguments: open.arguments });
    return open;
  }

  /** Shows what a call of the server has given. */
  finishCall(open: OpenCall, outcome: { output: string } | { error: string }): void {
    const place = { item_id: open.id, output_index: open.index };
    const isError = "error" in outcome;
    this.#journal.emit({ type: `response.mcp_call.${isError ? "failed" : "completed"}`, ...place });
    this.#finish(open.index, {
      ...mcpCall(open, isError ? "failed" : "completed"),
      ...(isError ? { error: callError(outcome.error) } : { output: outcome.output }),
    });
  }

  /** Shows the tools of an MCP server, or that it has not told them. */
  addList(list: Omit<McpListToolsItem, "id">): void {
    const index = this.#next();
    const item: McpListToolsItem = { ...list, id: newId("mcpl") };
    const place = { item_id: item.id, output_index: index };
    const added = { ...item, tools: [], error: null };
    this.#journal.emit({ type: "response.output_item.added", output_index: index, item: added });
    this.#journal.emit({ type: "response.mcp_list_tools.in_progress", ...place });
    const end = item.error === null ? "completed" : "failed";
    this.#journal.emit({ type: `response.mcp_list_tools.${end}`, ...place });
    this.#finish(index, item);
  }

  /** Shows a call that waits for a person to allow it. */
  addApprovalRequest(request: Omit<McpApprovalRequestItem, "type">): void {
    const index = this.#next();
    const item: McpApprovalRequestItem = { type: "mcp_approval_request", ...request };
    this.#journal.emit({ type: "response.output_item.added", output_index: index, item });
    this.#finish(index, item);
  }

  /** Shows a call that the client is to run, as the client knows the tool. */
  addClientCall({ callId, arguments: text, tool }: ClientCall): void {
    const index = this.#next();
    const { type, name, namespace } = tool;
    const called = { call_id: callId, name, ...(namespace !== undefined && { namespace }) };
    const begin = (item: FunctionCallItem | CustomToolCallItem) =>
      this.#journal.emit({ type: "response.output_item.added", output_index: index, item });
    if (type === "custom") {
      const input = inputOf(text);
      const item: CustomToolCallItem = {
        type: "custom_tool_call",
        id: newId("ctc"),
        ...called,
        input,
      };
      const place = { item_id: item.id, output_index: index };
      begin({ ...item, input: "" });
      this.#journal.emit({ type: "response.custom_tool_call_input.delta", ...place, delta: input });
      this.#journal.emit({ type: "response.custom_tool_call_input.done", ...place, input });
      this.#finish(index, item);
      return;
    }
    const item: FunctionCallItem = {
      type: "function_call",
      id: newId("fc"),
      ...called,
      arguments: text,
      status: "completed",
    };
    const place = { item_id: item.id, output_index: index };
    begin({ ...item, arguments: "", status: "in_progress" });
    this.#journal.emit({ type: "response.function_call_arguments.delta", ...place, delta: text });
    this.#journal.emit({ type: "response.function_call_arguments.done", ...place, name, arguments: text });
    this.#finish(index, item);
  }

  #beginText(type: OpenText["type"]): OpenText {
    const open: OpenText = {
      type,
      id: newId(type === "message" ? "msg" : "rs"),
      index: this.#next(),
      text: "",
    };
    const { id, index } = open;
    const item: MessageItem | ReasoningItem =
      type === "message"
        ? { type, id, role: "assistant", status: "in_progress", content: [] }
        : { type, id, summary: [], content: [], status: "in_progress" };
    this.#journal.emit({ type: "response.output_item.added", output_index: index, item });
    this.#journal.emit({
      type: "response.content_part.added",
      item_id: id,
      output_index: index,
      content_index: 0,
      part: type === "message" ? textPart("") : { type: "reasoning_text", text: "" },
    });
    return open;
  }

  #next(): number {
    return this.#items.push(undefined) - 1;
  }

  #finish(index: number, item: OutputItem): void {
    this.#items[index] = item;
    this.#journal.put({ index, turn: this.turn, item });
    this.#journal.emit({ type: "response.output_item.done", output_index: index, item });
  }
}

/** The one text that a custom tool is given. */
function inputOf(text: string): string {
  const { input } = JSON.parse(text) as { input?: unknown };
  return typeof input === "string" ? input : JSON.stringify(input ?? "");
}

function textPart(text: string): OutputText {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function callError(text: string): McpCallError {
  return { type: "mcp_tool_execution_error", content: [{ type: "text", text }] };
}

function mcpCall(open: OpenCall, status: McpCallItem["status"]): McpCallItem {
  const { id, label, name, arguments: text, approvalId } = open;
  return {
    type: "mcp_call",
    id,
    server_label: label,
    name,
    arguments: text,
    output: null,
    error: null,
    status,
    approval_request_id: approvalId ?? null,
  };
}
