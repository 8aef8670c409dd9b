// The trace of a run as clients see it: from the store, and what is not written yet if the run works in this process.

import { isCutBy } from "../engine/run-tracer.ts";
import type { TraceQuery } from "../protocol/query.ts";
import { isTerminal } from "../protocol/status.ts";
import type { TraceLevel, TraceObject, WireTraceEvent } from "../protocol/trace-object.ts";
import type { StoredResponse, TracePiece } from "../store/store.ts";

export interface TraceSource {
  /** What is stored, in its order: at least from the event before the first that is asked for. */
  readonly stored: readonly TracePiece[];
  /** What is not written yet, or was written last: some of it may be stored as well. */
  readonly unwritten: readonly TracePiece[];
  /** What this server records now. */
  readonly level: TraceLevel;
}

/** Fields that are only given on demand, by the type of their event. */
const onDemand: Readonly<Record<string, readonly [field: string, include: "requests" | "content"]>> = {
  "request.sent": ["body", "requests"],
  "turn.started": ["input", "content"],
  "turn.finished": ["output", "content"],
};

export function toTraceObject(
  { id, status, createdAtMs, background }: StoredResponse,
  { after, include }: TraceQuery,
  { stored, unwritten, level }: TraceSource,
): TraceObject {
  const events: WireTraceEvent[] = [];
  const isOver = isTerminal(status);
  const pieces = [...stored, ...unwritten];
  let next = 0;
  for (const { first, lines } of pieces) {
    for (const [index, line] of lines.split("\n").entries()) {
      const n = first + index;
      if (n < next) continue; // written while it was read
      next = n + 1;
      if (n <= after) continue;
      const event = JSON.parse(line) as EventLine;
      if (event.type !== "model.chunk" || include.includes("chunks"))
        events.push({ n, ...withoutExtras(event, include) });
    }
  }
  // The worker that begins a run writes that it was queued.
  if (next === 0 && background && level !== "off" && !isOver) {
    next = 1;
    if (after < 0) events.push({ n: 0, at: 0, type: "run.queued" });
  }
  return {
    object: "response.trace",
    response_id: id,
    level: levelIn(events) ?? (isOver && next === 0 && after < 0 ? "off" : level),
    started_at_ms: createdAtMs,
    is_over: isOver,
    is_cut: pieces.some(isCutBy),
    next: Math.max(next, after + 1),
    events,
  };
}

interface EventLine {
  readonly at: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

function withoutExtras(event: EventLine, include: TraceQuery["include"]): EventLine {
  const [field, name] = onDemand[event.type] ?? [];
  if (field === undefined || name === undefined || include.includes(name) || !(field in event)) return event;
  return { ...event, [field]: undefined };
}

/** The process that began or resumed the run says what it records. */
function levelIn(events: readonly WireTraceEvent[]): TraceLevel | undefined {
  const claimed = events.findLast(({ type }) => type === "run.claimed");
  return claimed?.["level"] as TraceLevel | undefined;
}
