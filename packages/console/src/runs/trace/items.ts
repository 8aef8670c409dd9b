// The items of a run, in words for a list, and which answer of the model each belongs to.

import type { Item } from "../../api/response.ts";
import type { Round } from "./rounds.ts";

export type ItemLook =
  | "user"
  | "assistant"
  | "system"
  | "thinking"
  | "call"
  | "result"
  | "approval"
  | "other";

export interface ItemRow {
  readonly key: string;
  readonly item: Item;
  readonly isOutput: boolean;
  readonly look: ItemLook;
  /** What it is: `User`, `Thinking`, the name of a tool. */
  readonly title: string;
  /** What it says. */
  readonly text: string;
  /** What came of a call, or why it failed. */
  readonly result?: string;
  readonly isFailed: boolean;
  readonly status?: string;
  /** The answer that it is a part of; undefined for input, and for calls that were approved before. */
  readonly answer?: number;
  /** The call of the trace that it shows. */
  readonly callId?: string;
  readonly doubts: readonly string[];
}

/** Whether an item is a call, of any kind. */
export function isCall({ type }: Item): boolean {
  return type.endsWith("_call");
}

export function inputRows(items: readonly Item[]): ItemRow[] {
  return items.map((item, index) => toRow(item, false, `in:${item.id ?? index}`, { doubts: [] }));
}

/** The rows of an output. The rounds of the trace tell which calls belong to one answer; without them it is guessed. */
export function outputRows(items: readonly Item[], rounds: readonly Round[]): ItemRow[] {
  const places = placesOf(items, rounds);
  return items.map((item, index) =>
    toRow(item, true, `out:${item.id ?? index}`, places[index] ?? { doubts: [] }),
  );
}

/** Where an item belongs. */
type ItemPlace = Pick<ItemRow, "answer" | "callId" | "doubts">;

function placesOf(items: readonly Item[], rounds: readonly Round[]): ItemPlace[] {
  /** Calls of all answers, in order. Those that were rejected are items too. */
  const calls = rounds.flatMap(({ answer, calls: made }) => made.map((call) => ({ answer, ...call })));
  let nextCall = 0;
  let answer = rounds[0]?.answer ?? 0;
  let hasCalls = false;
  return items.map((item): ItemPlace => {
    const approvalId = item["approval_request_id"];
    // It was approved: its call is of an earlier response.
    if (isCall(item) && typeof approvalId === "string") return { callId: approvalId, doubts: [] };
    if (isCall(item) || item.type === "mcp_approval_request") {
      const call = calls[nextCall];
      nextCall += 1;
      hasCalls = true;
      if (!call) return { answer, doubts: [] };
      answer = call.answer;
      return { answer, callId: call.callId, doubts: call.doubts };
    }
    if (isSpoken(item)) {
      // Words after calls begin the next answer.
      if (hasCalls) answer += 1;
      hasCalls = false;
      return { answer, doubts: [] };
    }
    return { doubts: [] };
  });
}

function isSpoken({ type, summary, content }: Item): boolean {
  if (type === "message") return true;
  // A thought without words only carries sealed calls.
  return type === "reasoning" && (textOfParts(summary) !== "" || textOfParts(content) !== "");
}

function toRow(item: Item, isOutput: boolean, key: string, place: ItemPlace): ItemRow {
  const said = describe(item);
  const status = typeof item["status"] === "string" ? item["status"] : undefined;
  return {
    key,
    item,
    isOutput,
    isFailed: status === "failed" || said.isFailed === true,
    ...said,
    ...(status !== undefined && { status }),
    ...place,
  };
}

type Description = Pick<ItemRow, "look" | "title" | "text"> & { result?: string; isFailed?: boolean };

function describe(item: Item): Description {
  const { type, name, role } = item;
  const called = typeof name === "string" ? name : type;
  switch (type) {
    case "message":
      return { ...speaker(role), text: textOfParts(item["content"]) };
    case "reasoning": {
      const text = textOfParts(item["content"]) || textOfParts(item["summary"]);
      return { look: "thinking", title: "Thinking", text: text || "Sealed: only the server can read it." };
    }
    case "function_call":
    case "custom_tool_call":
      return { look: "call", title: called, text: asText(item["arguments"] ?? item["input"]) };
    case "function_call_output":
    case "custom_tool_call_output":
      return { look: "result", title: "Result", text: textOfParts(item["output"]) };
    case "mcp_call":
      return { look: "call", title: called, text: asText(item["arguments"]), ...outcomeOf(item) };
    case "mcp_list_tools":
      return {
        look: "other",
        title: `Tools of ${asText(item["server_label"])}`,
        text: toolNames(item["tools"]),
        ...(item["error"] != null && { result: asText(item["error"]), isFailed: true }),
      };
    case "mcp_approval_request":
      return { look: "approval", title: `May ${called} run?`, text: asText(item["arguments"]) };
    case "mcp_approval_response":
      return {
        look: "approval",
        title: item["approve"] === true ? "Approved" : "Denied",
        text: asText(item["reason"] ?? item["approval_request_id"]),
      };
    default: {
      const { type: _, id: __, status: ___, ...fields } = item;
      return { look: isCall(item) ? "call" : "other", title: called, text: JSON.stringify(fields, null, 2) };
    }
  }
}

function speaker(role: unknown): Pick<ItemRow, "look" | "title"> {
  if (role === "user") return { look: "user", title: "User" };
  if (role === "assistant") return { look: "assistant", title: "Assistant" };
  return { look: "system", title: role === "developer" ? "Developer" : "System" };
}

/** The output of a call, or its error. */
function outcomeOf({ output, error }: Item): Pick<Description, "result" | "isFailed"> {
  if (error != null) {
    const content = (error as { content?: unknown }).content;
    return { result: content === undefined ? asText(error) : textOfParts(content), isFailed: true };
  }
  return output == null ? {} : { result: asText(output) };
}

function toolNames(tools: unknown): string {
  return Array.isArray(tools) ? tools.map((tool: { name?: unknown }) => asText(tool?.name)).join(", ") : "";
}

/** The text of content: a text, or parts with texts. Parts without one are named. */
export function textOfParts(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content
    .map((part: { type?: unknown; text?: unknown; refusal?: unknown } | null) => {
      const text = part?.text ?? part?.refusal;
      return typeof text === "string" ? text : `[${asText(part?.type)}]`;
    })
    .join("\n");
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
