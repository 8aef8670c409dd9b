// Reads from the log where a run was when its process ended.

import type { JsonValue, Message } from "rondo";
import type { RunState } from "rondo/loop";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import type { StreamEvent } from "../protocol/events.ts";
import type { OutputItem } from "../protocol/items.ts";
import type { ResponseUsage } from "../protocol/response.ts";
import type { StoredEvent, StoredOutput } from "../store/store.ts";
import type { OpenText } from "./output.ts";
import type { RunStep, StoredCall } from "./steps.ts";
import type { PartForm } from "./text-parts.ts";
import { turnId } from "./turn-id.ts";
import { addUsage } from "./usage.ts";

/** A call without an answer. */
export interface OpenCall extends StoredCall {
  readonly isStarted: boolean;
}

/** What an earlier start of a run left. */
export interface Progress {
  /** The messages since the run began. */
  readonly messages: readonly Message[];
  /** By output index, with gaps for calls that have no answer yet. */
  readonly items: readonly (OutputItem | undefined)[];
  /** Text that was cut off. */
  readonly openText: OpenText | undefined;
  /** Calls of the last answer without a result. */
  readonly openCalls: readonly OpenCall[];
  /** What interrupted calls kept, by their idempotency keys. */
  readonly kept: ReadonlyMap<string, JsonValue>;
  /** The tools that the model called so far, by the names that it has for them. */
  readonly names: ReadonlyMap<string, ToolIdentity>;
  /** The loop's state; undefined if it has counted nothing yet. */
  readonly state: RunState | undefined;
  /** The number of the last answer of which something was shown; -1 for none. */
  readonly answer: number;
  readonly usage: ResponseUsage | undefined;
  /** Since when the model server has been away; undefined if it answered. */
  readonly awaySinceMs: number | undefined;
  /** Whether the start of the run was announced. */
  readonly isAnnounced: boolean;
}

export function readProgress(
  id: string,
  steps: readonly RunStep[],
  output: readonly StoredOutput[],
  events: readonly StoredEvent[],
): Progress {
  const messages: Message[] = [];
  const names = new Map<string, ToolIdentity>();
  const kept = new Map<string, JsonValue>();
  let open = new Map<string, OpenCall>();
  let usage: ResponseUsage | undefined;
  let state: RunState | undefined;
  let lastAnswer = -1;
  let awaySinceMs: number | undefined;
  for (const step of steps) {
    state = step.state ?? state;
    switch (step.type) {
      case "answer":
        messages.push(step.message);
        for (const { name, identity } of step.calls) if (identity) names.set(name, identity);
        open = openCalls(step.calls);
        usage = addUsage(usage, step.usage);
        lastAnswer = step.answer;
        awaySinceMs = undefined;
        break;
      case "model.away":
        awaySinceMs = step.sinceMs;
        if (step.usage) usage = addUsage(usage, step.usage);
        break;
      case "approved":
        open = openCalls(step.calls);
        break;
      case "call.started": {
        const call = open.get(step.callId);
        if (call) open.set(step.callId, { ...call, isStarted: true });
        break;
      }
      case "call.updated": {
        const call = open.get(step.callId);
        if (call && step.item && "item" in call.shown) {
          const item = { ...call.shown.item, fields: { ...call.shown.item.fields, ...step.item } };
          open.set(step.callId, { ...call, shown: { ...call.shown, item } });
        }
        if (step.keep !== undefined) kept.set(turnId(id, lastAnswer, step.callId), step.keep);
        break;
      }
      case "call.finished":
        messages.push(step.message);
        open.delete(step.callId);
        break;
      default: // spans say nothing about progress
    }
  }

  const shown = readEvents(events);
  const items: (OutputItem | undefined)[] = Array.from({ length: shown.itemCount });
  for (const { index, item } of output) items[index] = item;
  const openText = shown.texts.find(({ index }) => items[index] === undefined);
  const lastShown = Math.max(lastAnswer, ...output.map((it) => it.turn));
  return {
    messages,
    items,
    openText,
    openCalls: [...open.values()],
    kept,
    names,
    state,
    // Text that was cut off belongs to an answer of its own, which is made again.
    answer: openText ? Math.max(lastShown, lastAnswer + 1) : lastShown,
    usage,
    awaySinceMs,
    isAnnounced: shown.isAnnounced,
  };
}

function openCalls(calls: readonly StoredCall[]): Map<string, OpenCall> {
  return new Map(calls.map((call) => [call.callId, { ...call, isStarted: false }]));
}

function readEvents(events: readonly StoredEvent[]) {
  const texts = new Map<string, OpenText & { readonly parts: PartForm[] }>();
  let itemCount = 0;
  let isAnnounced = false;
  for (const { data } of events) {
    const event = JSON.parse(data) as StreamEvent;
    switch (event.type) {
      case "response.in_progress":
        isAnnounced = true;
        break;
      case "response.output_item.added": {
        const { item, output_index: index } = event;
        itemCount = Math.max(itemCount, index + 1);
        if (item.type === "message" || item.type === "reasoning")
          texts.set(item.id, { type: item.type, id: item.id, index, parts: [], text: "" });
        break;
      }
      case "response.content_part.added":
        texts.get(event.item_id)?.parts.push(event.part.type === "output_text" ? "message" : "content");
        break;
      case "response.reasoning_summary_part.added":
        texts.get(event.item_id)?.parts.push("summary");
        break;
      case "response.output_text.delta":
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta": {
        const open = texts.get(event.item_id);
        // A thought that is shown as both comes twice.
        const isRepeated = "summary_index" in event && open?.parts.includes("content");
        if (open && !isRepeated) open.text += event.delta;
        break;
      }
      default:
    }
  }
  return { texts: [...texts.values()], itemCount, isAnnounced };
}
