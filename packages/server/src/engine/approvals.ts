// Calls that a person has to allow: the requests, the answers, and the calls to run now.

import type { JsonObject } from "rondo";
import type { Executors, LabelledCall } from "../executor/executors.ts";
import { serverName } from "../executor/mcp/server-name.ts";
import type { Offer } from "../executor/offer.ts";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import type { InputItem } from "../protocol/items.ts";
import { type ApprovalRequest, readApproval } from "./approval-id.ts";
import type { Entry } from "./conversation.ts";
import type { Sealer } from "./seal.ts";

/** Fields of the items on this page, which were validated with the request. */
interface Fields {
  readonly type: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly role?: string;
  readonly server_label: string;
  readonly name: string;
  readonly arguments?: string;
  readonly approval_request_id?: string | null;
  readonly approve?: boolean;
  readonly reason?: string | null;
}

/** A call that a person did not allow. */
export interface DeniedCall {
  /** The id of the approval request. */
  readonly id: string;
  readonly label: string;
  readonly name: string;
}

const unknownResult = "The outcome of this call is not known.";

/**
 * Rewrites items of executors as function calls with their outputs, under the model's names for the tools. Calls that
 * a person allowed and that did not run yet have no output. `before` entries are of earlier requests: their approvals
 * are over. Throws an `ApiError` for an answer to an unknown request.
 */
export function withApprovals(
  before: readonly Entry[],
  own: readonly Entry[],
  offer: Offer,
  { sealer, executors }: { sealer: Pick<Sealer, "isSigned">; executors: Pick<Executors, "readCall"> },
): { entries: Entry[]; approved: ApprovalRequest[]; denied: DeniedCall[] } {
  const given = [...before, ...own];
  if (given.every(({ item }) => isPlain(item, executors)))
    return { entries: given, approved: [], denied: [] };
  const all = byFirstIds(given.map(({ item }) => item as unknown as Fields));
  const calls = all.map((item) => executors.readCall(item as Fields & JsonObject));
  const asked = new Map(all.filter(isRequest).map((item) => [approvalIdOf(item), item]));
  const run = new Set(calls.flatMap((call) => call?.approvalId ?? []));
  checkCallIds(all, before.length, asked);
  const answered = checkAnswers(all, before.length, asked);
  const firstOwn = Math.max(
    before.length,
    all.findLastIndex((item, index) => calls[index] !== undefined || isOfModel(item)),
  );
  const approved = new Map<string, ApprovalRequest>();
  for (const [index, { type, approve, approval_request_id: id }] of all.entries())
    if (type === "mcp_approval_response" && approve === true && id && index >= firstOwn && !run.has(id))
      approved.set(
        id,
        madeRequest(id, { all, given, offer, sealer }, `input[${index - before.length}].approval_request_id`),
      );

  const denied = all.flatMap(({ type, approve, approval_request_id: id }, index): DeniedCall[] => {
    if (type !== "mcp_approval_response" || approve === true || !id || index < firstOwn) return [];
    const { server_label: label = "", name = "" } = asked.get(id) ?? {};
    return [{ id, label, name }];
  });

  const seen = new Set<string>();
  const results: Entry[] = [];
  const entries = given.flatMap((entry, index): Entry[] => {
    const item = all[index] as Fields;
    const call = calls[index];
    const { type, server_label: label, name, arguments: text } = item;
    if (type === "mcp_list_tools") return [];
    if (isRequest(item)) {
      const id = approvalIdOf(item);
      // Clients resend items of the chain, or send one twice: it is one call.
      if (seen.has(id)) return [];
      seen.add(id);
      const made = approved.get(id);
      const called = made
        ? { name: modelName(offer, made.identity), arguments: made.arguments }
        : { name: modelName(offer, { label, name }), arguments: text ?? "" };
      return [changed(entry, { type: "function_call", id, call_id: id, ...called })];
    }
    if (call) {
      const { approvalId, result = unknownResult } = call;
      if (approvalId !== undefined && asked.has(approvalId))
        return [changed(entry, output(approvalId, result))];
      const id = item.id ?? `${type}_${index}`;
      // At the end: a result between two calls would make them calls of two answers.
      results.push({ item: output(id, result) });
      return [changed(entry, toCall(id, call, offer))];
    }
    if (type !== "mcp_approval_response") return [entry];
    const id = item.approval_request_id ?? "";
    if (item.approve !== true) return [changed(entry, output(id, denial(item.reason)))];
    if (run.has(id) || approved.has(id)) return [];
    return [changed(entry, output(id, unknownResult))];
  });
  // Nobody has to answer: a client that continues without an answer has not allowed the call.
  const open = [...asked.keys()].filter((id) => !answered.has(id) && !run.has(id));
  const ignored = open.map((id) => ({
    item: output(id, "Nobody has allowed this call, so it was not run."),
  }));
  return { entries: [...entries, ...results, ...ignored], approved: [...approved.values()], denied };
}

function isPlain(item: Entry["item"], executors: Pick<Executors, "readCall">): boolean {
  return !item.type.startsWith("mcp_") && executors.readCall(item) === undefined;
}

function toCall(id: string, call: LabelledCall, offer: Offer): InputItem {
  return { type: "function_call", id, call_id: id, name: modelName(offer, call), arguments: call.arguments };
}

interface Conversation {
  readonly all: readonly Fields[];
  readonly given: readonly Entry[];
  readonly offer: Offer;
  readonly sealer: Pick<Sealer, "isSigned">;
}

/** The request as this server made it. */
function madeRequest(
  id: string,
  { all, given, offer, sealer }: Conversation,
  param: string,
): ApprovalRequest {
  for (const [index, item] of all.entries()) {
    if (!isRequest(item) || approvalIdOf(item) !== id) continue;
    const { server_label: label, name, arguments: text = "" } = item;
    const made = readApproval({ id, label, name, arguments: text }, sealer);
    if (made) return made;
    // Older versions did not sign. Output of a stored response was made here.
    if (given[index]?.group === undefined || !unsignedId.test(id)) continue;
    const identity = offer.findOn(label, name)?.identity ?? { host: "unknown", label, name };
    return { id, identity, arguments: text };
  }
  throw invalidRequest(
    param,
    `The approval request '${id}' was not made by this server for you, or was changed, so it cannot be approved. Send it back as it came, or name the response that made it as previous_response_id.`,
    "invalid_approval_request",
  );
}

/** An id of an older version. */
const unsignedId = /^mcpr_[0-9a-f]{32}$/;

/** A request that is stored again gets another id: replaces that by the first one. */
function byFirstIds(all: readonly Fields[]): readonly Fields[] {
  const firstIds = new Map(all.flatMap((item) => (isRequest(item) ? [[item.id, approvalIdOf(item)]] : [])));
  return all.map((item) => {
    const { approval_request_id: id } = item;
    const first = isRequest(item) || !id ? undefined : firstIds.get(id);
    return first === undefined || first === id ? item : { ...item, approval_request_id: first };
  });
}

/** The name that the model has for a tool. A tool that is not offered must not get the name of another. */
function modelName(
  offer: Offer,
  tool: Pick<ToolIdentity, "label" | "name"> & { readonly host?: string },
): string {
  const { host, label, name } = tool;
  const found = host === undefined ? offer.findOn(label, name) : offer.findSame({ host, label, name });
  if (found) return found.tool.wireName;
  return offer.find(name) ? `${serverName(label)}__${name}`.replace(/[^\w-]/g, "_").slice(0, 64) : name;
}

/** Rejects client calls with the id of a request: they would be taken for the approved call. */
function checkCallIds(all: readonly Fields[], ownFrom: number, asked: ReadonlyMap<string, Fields>): void {
  const index = all.findIndex(({ call_id: id }) => id !== undefined && asked.has(id));
  if (index < 0) return;
  throw invalidRequest(
    `input[${Math.max(0, index - ownFrom)}].call_id`,
    `The id '${all[index]?.call_id}' is that of an approval request, so no other call can have it. Answer the request with an mcp_approval_response item.`,
  );
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

/** A request that came as input is stored under another id. */
function approvalIdOf({ id, approval_request_id: kept }: Fields): string {
  return kept ?? id ?? "";
}

const ofModel = new Set(["reasoning", "function_call", "custom_tool_call", "mcp_approval_request"]);

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
