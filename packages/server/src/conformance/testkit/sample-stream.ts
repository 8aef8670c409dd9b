// A stream that follows the contract: the tools of a server, a thought, a text, a call that the server runs, one for
// the client, and one that waits for approval.

import type { Frame } from "./frames.ts";
import { message, responseOf } from "./samples.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests break it wherever they like.
type Event = any;

const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Hm." }],
  status: "completed",
};
const rawReasoning = {
  type: "reasoning",
  id: "rs_2",
  summary: [],
  content: [{ type: "reasoning_text", text: "So." }],
  status: "completed",
};
const serverCall = {
  type: "mcp_call",
  id: "mcp_1",
  server_label: "local",
  name: "clock",
  arguments: '{"a":1}',
  output: "12:00",
  error: null,
  status: "completed",
  approval_request_id: null,
};
const clientCall = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "add",
  arguments: '{"a":1}',
  status: "completed",
};

const list = {
  type: "mcp_list_tools",
  id: "mcpl_1",
  server_label: "files",
  tools: [{ name: "write", description: null, input_schema: { type: "object" }, annotations: null }],
  error: null,
};
const approval = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  server_label: "files",
  name: "write",
  arguments: '{"a":1}',
};

/** The events of the stream, in order, numbered anew on every call. */
export function sampleEvents(): Event[] {
  const running = responseOf({ status: "in_progress", output: [], usage: null, completed_at: null });
  const output = [reasoning, message("Hello"), serverCall, clientCall, list, approval, rawReasoning];
  const events: Event[] = [
    { type: "response.created", response: running },
    { type: "response.in_progress", response: running },
    ...summaryItem(0),
    ...textItem(1, message("", { status: "in_progress", content: [] }), message("Hello"), "output_text", [
      "Hel",
      "lo",
    ]),
    ...callItem(2, { ...serverCall, output: null }, serverCall, ["in_progress", "completed"]),
    ...callItem(3, clientCall, clientCall, []),
    ...listItem(4),
    { type: "response.output_item.added", output_index: 5, item: approval },
    { type: "response.output_item.done", output_index: 5, item: approval },
    ...textItem(6, { ...rawReasoning, status: "in_progress", content: [] }, rawReasoning, "reasoning_text", [
      "So.",
    ]),
    { type: "response.completed", response: responseOf({ status: "requires_action", output }) },
  ];
  return structuredClone(events).map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** Events as frames, with the end that a stream has. */
export function framed(events: readonly Event[]): Frame[] {
  return [...events.map((data) => ({ event: data.type, data })), { event: undefined, data: "[DONE]" }];
}

function textItem(
  output_index: number,
  added: Event,
  done: Event,
  kind: string,
  pieces: readonly string[],
): Event[] {
  const at = { item_id: added.id, output_index, content_index: 0 };
  const [part] = done.content;
  const logprobs = kind === "output_text" ? { logprobs: [] } : {};
  return [
    { type: "response.output_item.added", output_index, item: added },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...pieces.map((delta) => ({ type: `response.${kind}.delta`, ...at, delta, ...logprobs })),
    { type: `response.${kind}.done`, ...at, text: pieces.join(""), ...logprobs },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index, item: done },
  ];
}

function summaryItem(output_index: number): Event[] {
  const at = { item_id: reasoning.id, output_index, summary_index: 0 };
  const [part] = reasoning.summary;
  const added = { ...reasoning, status: "in_progress", summary: [] };
  return [
    { type: "response.output_item.added", output_index, item: added },
    { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.reasoning_summary_text.delta", ...at, delta: "Hm." },
    { type: "response.reasoning_summary_text.done", ...at, text: "Hm." },
    { type: "response.reasoning_summary_part.done", ...at, part },
    { type: "response.output_item.done", output_index, item: reasoning },
  ];
}

function listItem(output_index: number): Event[] {
  const at = { item_id: list.id, output_index };
  return [
    { type: "response.output_item.added", output_index, item: { ...list, tools: [] } },
    { type: "response.mcp_list_tools.in_progress", ...at },
    { type: "response.mcp_list_tools.completed", ...at },
    { type: "response.output_item.done", output_index, item: list },
  ];
}

function callItem(output_index: number, added: Event, done: Event, steps: readonly string[]): Event[] {
  const at = { item_id: added.id, output_index };
  const name = added.type === "function_call" ? { name: added.name } : {};
  return [
    {
      type: "response.output_item.added",
      output_index,
      item: { ...added, arguments: "", status: "in_progress" },
    },
    { type: `response.${added.type}_arguments.delta`, ...at, delta: '{"a"' },
    { type: `response.${added.type}_arguments.delta`, ...at, delta: ":1}" },
    { type: `response.${added.type}_arguments.done`, ...at, ...name, arguments: '{"a":1}' },
    ...steps.map((step) => ({ type: `response.mcp_call.${step}`, ...at })),
    { type: "response.output_item.done", output_index, item: done },
  ];
}
