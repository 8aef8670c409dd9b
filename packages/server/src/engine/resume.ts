// Reads from the log where a run was when its process ended.

import type { FinishReason, Message } from "rondo";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import type { StreamEvent } from "../protocol/events.ts";
import type { OutputItem } from "../protocol/items.ts";
import type { ResponseUsage } from "../protocol/response.ts";
import type { StoredEvent, StoredOutput } from "../store/store.ts";
import type { OpenText } from "./output.ts";
import type { RunStep, TurnCall } from "./steps.ts";
import { addUsage } from "./usage.ts";

/** What an earlier start of a run has left. */
export interface Progress {
  /** What was said and answered since the run began. */
  readonly messages: readonly Message[];
  /** By output index, with gaps for calls that have no answer yet. */
  readonly items: readonly (OutputItem | undefined)[];
  /** Text that was cut off. */
  readonly openText: OpenText | undefined;
  /** Calls of the last answer without a result. */
  readonly openCalls: readonly (TurnCall & { readonly isStarted: boolean })[];
  /** The tools that the model has called so far, by the names that it has for them. */
  readonly names: ReadonlyMap<string, ToolIdentity>;
  /** How many answers the model has given, and how the last one ended. */
  readonly turns: number;
  readonly lastAnswer: { readonly finishReason: FinishReason; readonly hasCalls: boolean } | undefined;
  /** How many calls were started. */
  readonly callsStarted: number;
  /** Whether calls of the last answer were not run because of a limit; `final`: that is the answer after them. */
  readonly limit: "none" | "reached" | "final";
  /** The number of the last answer of which something was shown; -1 for none. */
  readonly turn: number;
  readonly usage: ResponseUsage | undefined;
  /** Whether the start of the run was told. */
  readonly isAnnounced: boolean;
}

export function readProgress(
  steps: readonly RunStep[],
  output: readonly StoredOutput[],
  events: readonly StoredEvent[],
): Progress {
  const messages: Message[] = [];
  const names = new Map<string, ToolIdentity>();
  let open = new Map<string, TurnCall & { isStarted: boolean }>();
  let usage: ResponseUsage | undefined;
  let lastAnswer: Progress["lastAnswer"];
  let turns = 0;
  let callsStarted = 0;
  let limit: Progress["limit"] = "none";
  let turn = Math.max(-1, ...output.map((it) => it.turn));
  for (const step of steps) {
    if (step.type === "turn") {
      messages.push(step.message);
      for (const { name, identity } of step.calls) if (identity) names.set(name, identity);
      if (limit === "reached") limit = "final";
      open = new Map(step.calls.map((call) => [call.callId, { ...call, isStarted: false }]));
      usage = addUsage(usage, step.usage);
      lastAnswer = { finishReason: step.finishReason, hasCalls: step.calls.length > 0 };
      turns += 1;
      turn = Math.max(turn, step.turn);
    } else if (step.type === "approved") {
      open = new Map(step.calls.map((call) => [call.callId, { ...call, isStarted: false }]));
    } else if (step.type === "call.started") {
      const call = open.get(step.callId);
      if (!call || call.isStarted) continue; // started again after a crash
      open.set(step.callId, { ...call, isStarted: true });
      callsStarted += 1;
    } else {
      messages.push(step.message);
      const call = open.get(step.callId);
      // Nothing but a limit keeps a right call from being run, or that its server is gone since.
      if (
        call &&
        limit === "none" &&
        turns > 0 &&
        !step.isRefused &&
        "item" in call.shown &&
        !call.isRejected &&
        !call.isStarted
      )
        limit = "reached";
      open.delete(step.callId);
    }
  }

  const shown = readEvents(events);
  const items: (OutputItem | undefined)[] = Array.from({ length: shown.itemCount });
  for (const { index, item } of output) items[index] = item;
  const openText = shown.texts.find(({ index }) => items[index] === undefined);
  // Text that was cut belongs to an answer of its own, which is made again.
  if (openText) turn = Math.max(turn, lastTurnOf(steps) + 1);
  return {
    messages,
    items,
    openText,
    openCalls: [...open.values()],
    names,
    turns,
    lastAnswer,
    callsStarted,
    limit,
    turn,
    usage,
    isAnnounced: shown.isAnnounced,
  };
}

function lastTurnOf(steps: readonly RunStep[]): number {
  return steps.reduce((last, step) => (step.type === "turn" ? step.turn : last), -1);
}

function readEvents(events: readonly StoredEvent[]) {
  const texts = new Map<string, OpenText>();
  let itemCount = 0;
  let isAnnounced = false;
  for (const { data } of events) {
    const event = JSON.parse(data) as StreamEvent;
    if (event.type === "response.in_progress") isAnnounced = true;
    else if (event.type === "response.output_item.added") {
      const { item, output_index: index } = event;
      itemCount = Math.max(itemCount, index + 1);
      if (item.type === "message" || item.type === "reasoning")
        texts.set(item.id, { type: item.type, id: item.id, index, text: "" });
    } else if (
      event.type === "response.output_text.delta" ||
      event.type === "response.reasoning_text.delta"
    ) {
      const open = texts.get(event.item_id);
      if (open) open.text += event.delta;
    }
  }
  return { texts: [...texts.values()], itemCount, isAnnounced };
}
