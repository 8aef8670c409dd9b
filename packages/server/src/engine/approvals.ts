// Calls that a person has to allow: what was asked, what was answered, and what is to be run now.

import type { JsonValue } from "rondo";
import type { Offer } from "../executor/offer.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import type { InputItem } from "../protocol/items.ts";
import { type Entry, outcomeOf } from "./conversation.ts";

/** What the items of this page have of it; they were checked when they came in. */
interface Fields {
  readonly type: string;
  readonly id?: string;
  readonly role?: string;
  readonly server_label: string;
  readonly name: string;
  readonly arguments?: string;
  readonly approval_request_id?: string | null;
  readonly approve?: boolean;
  readonly reason?: string | null;
  readonly output?: JsonValue;
  readonly error?: JsonValue;
}

/** A call that a person has allowed with this request. */
export interface ApprovedCall {
  /** That of the request for approval. In the conversation it is the id of the call. */
  readonly id: string;
  readonly label: string;
  /** The tool's name on its server, and as the model knows it. */
  readonly name: string;
  readonly wireName: string;
  readonly arguments: string;
}

/**
 * Calls of MCP servers in the form that a conversation is made of: under the names that the model has for the
 * tools, and those that had to be allowed as calls with their outcome, or without one if they are to run now.
 * `before` entries are of earlier requests: what was allowed there is over. Throws an `ApiError` for an answer
 * that answers nothing.
 */
export function withApprovals(
  before: readonly Entry[],
  own: readonly Entry[],
  offer: Offer,
): { entries: Entry[]; approved: ApprovedCall[] } {
  const given = [...before, ...own];
  if (!given.some(({ item }) => item.type.startsWith("mcp_"))) return { entries: given, approved: [] };
  const all = given.map(({ item }) => item as unknown as Fields);
  const asked = new Map(all.filter(isRequest).map((item) => [approvalIdOf(item), item]));
  const run = new Set(all.filter(({ type }) => type === "mcp_call").map((item) => item.approval_request_id));
  const answered = checkAnswers(all, before.length, asked);
  const lastAnswer = all.findLastIndex(isOfModel);

  const approved: ApprovedCall[] = [];
  const wireName = (label: string, name: string) => offer.findThere(label, name)?.tool.wireName ?? name;
  const entries = given.flatMap((entry, index): Entry[] => {
    const item = all[index] as Fields;
    const { type, server_label: label, name, arguments: text } = item;
    if (type === "mcp_list_tools") return [];
    if (isRequest(item))
      return [
        changed(entry, {
          type: "function_call",
          call_id: approvalIdOf(item),
          name: wireName(label, name),
          arguments: text ?? "",
        }),
      ];
    const id = item.approval_request_id ?? "";
    if (type === "mcp_call") {
      if (asked.has(id)) return [changed(entry, output(id, outcomeOf(item)))];
      return [changed(entry, { ...(entry.item as unknown as InputItem), name: wireName(label, name) })];
    }
    if (type !== "mcp_approval_response") return [entry];
    const { approve, reason } = item;
    if (approve !== true) return [changed(entry, output(id, denial(reason)))];
    if (run.has(id)) return [];
    const request = asked.get(id);
    if (index < before.length || index < lastAnswer || !request)
      return [changed(entry, output(id, "The outcome of this call is not known."))];
    approved.push({
      id,
      label: request.server_label,
      name: request.name,
      wireName: wireName(request.server_label, request.name),
      arguments: request.arguments ?? "",
    });
    return [];
  });
  // Nobody has to answer: whoever goes on without it has not allowed it.
  const open = [...asked.keys()].filter((id) => !answered.has(id) && !run.has(id));
  return {
    entries: [
      ...entries,
      ...open.map((id) => ({
        item: output(id, "Nobody has allowed this call, so it was not run."),
      })),
    ],
    approved,
  };
}

/** The ids that were answered. Each may be answered once, and only while the model waits for it. */
function checkAnswers(
  all: readonly Fields[],
  ownFrom: number,
  asked: ReadonlyMap<string, Fields>,
): ReadonlySet<string> {
  const answered = new Set<string>();
  for (const [index, item] of all.entries()) {
    if (item.type !== "mcp_approval_response") continue;
    const id = item.approval_request_id ?? "";
    const param = `input[${Math.max(0, index - ownFrom)}].approval_request_id`;
    if (!asked.has(id))
      throw invalidRequest(
        param,
        `No approval request found with the id '${id}'. Send it with the answer, or the id of the response that made it as previous_response_id.`,
      );
    if (answered.has(id))
      throw invalidRequest(param, `The approval request '${id}' was answered before. Answer each once.`);
    answered.add(id);
  }
  return answered;
}

function isRequest({ type }: Fields): boolean {
  return type === "mcp_approval_request";
}

/** One that came with a request is kept under another id. */
function approvalIdOf({ id, approval_request_id: kept }: Fields): string {
  return kept ?? id ?? "";
}

const ofModel = new Set([
  "reasoning",
  "function_call",
  "custom_tool_call",
  "mcp_call",
  "mcp_approval_request",
]);

function isOfModel({ type, role }: Fields): boolean {
  return ofModel.has(type) || (type === "message" && role === "assistant");
}

function changed(entry: Entry, item: InputItem): Entry {
  return { ...entry, item };
}

function output(id: string, text: string): InputItem {
  return { type: "function_call_output", call_id: id, output: text };
}

function denial(reason: string | null | undefined): string {
  const why = reason ? `: ${reason}` : ".";
  return `The user has not allowed this call, so it was not run${why}`;
}
