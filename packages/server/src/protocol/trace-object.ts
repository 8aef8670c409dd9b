// The trace of a run: what happened, and when.

import { z } from "zod";

export const traceLevels = ["off", "timings", "full"] as const;
export type TraceLevel = (typeof traceLevels)[number];

export const traceEventSchema = z.looseObject({
  /** 0, 1, 2 …; events that were not asked for (`model.chunk`) have numbers too. */
  n: z.int(),
  /** Milliseconds since `started_at_ms`. */
  at: z.number(),
  type: z.string(),
});

export const traceSchema = z.object({
  object: z.literal("response.trace"),
  response_id: z.string(),
  /** What was recorded. With `after`: what this server records now, unless a process began the run in these events. */
  level: z.enum(traceLevels),
  started_at_ms: z.number(),
  /** Whether the run is over, so that no more events follow. */
  is_over: z.boolean(),
  /** Whether the trace became too long, and the rest of it was left out. */
  is_cut: z.boolean(),
  /** The number of the event that comes next. */
  next: z.int(),
  events: z.array(traceEventSchema),
});

export type TraceObject = z.infer<typeof traceSchema>;
export type WireTraceEvent = z.infer<typeof traceEventSchema>;
