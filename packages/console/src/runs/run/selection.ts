// Which item a lane of the timeline shows, and the other way round. A model may use the id of a call again in a later
// answer, so that a call is known by both.

import { numberOf, type TraceEvent, textOf } from "../trace/events.ts";
import type { ItemRow } from "../trace/items.ts";

/** The item of a lane: that of its call, or the first of its answer. */
export function itemFor(
  laneId: string,
  rows: readonly ItemRow[],
  events: readonly TraceEvent[],
): string | undefined {
  const at = laneId.indexOf(":");
  const kind = laneId.slice(0, Math.max(0, at));
  const rest = laneId.slice(at + 1);
  if (kind === "answer") return rows.find(({ answer }) => answer === Number(rest))?.key;
  if (kind === "approval") return rows.findLast(({ callId }) => callId === rest)?.key;
  const call = kind === "turn" ? callOfTurn(rest, events) : undefined;
  return call && rows.find((row) => row.callId === call.callId && row.answer === call.answer)?.key;
}

/** The lane of an item: that of the turn of its call, or of its answer. */
export function laneFor({ callId, answer }: ItemRow, events: readonly TraceEvent[]): string | undefined {
  if (callId !== undefined) {
    const isOfCall = (event: TraceEvent) => event["call_id"] === callId;
    const checked = events.findIndex(
      (event) => event.type === "call.checked" && isOfCall(event) && event["answer"] === answer,
    );
    const turn = events.find(
      (event, index) => index > checked && event.type === "turn.started" && isOfCall(event),
    );
    if (turn) return `turn:${textOf(turn, "turn_id")}`;
  }
  return answer === undefined ? undefined : `answer:${answer}`;
}

/** The call that a turn runs; without an answer if it was made in an earlier run. */
function callOfTurn(
  turnId: string,
  events: readonly TraceEvent[],
): { callId: string; answer: number | undefined } | undefined {
  const at = events.findIndex((event) => event.type === "turn.started" && event["turn_id"] === turnId);
  const callId = events[at] && textOf(events[at], "call_id");
  if (callId === undefined) return undefined;
  const checked = events
    .slice(0, at)
    .findLast((event) => event.type === "call.checked" && event["call_id"] === callId);
  return { callId, answer: checked && numberOf(checked, "answer") };
}
