// What the routes of the console take and give: the server's state, its samples, its log, its tools and its models.

import { z } from "zod";

const slots = z.object({
  /** How many requests may be in flight; null for no limit. */
  limit: z.int().nullable(),
  taken: z.int(),
  waiting: z.int(),
});

const endpoint = z.object({
  name: z.string(),
  /** Only without `auth`. */
  url: z.string().exactOptional(),
  kind: z.string(),
  state: z.enum(["up", "down", "unknown"]),
  error: z.string().nullable(),
  models: z.array(z.string()),
  slots,
});

export const systemSchema = z.object({
  object: z.literal("system"),
  version: z.string(),
  node: z.string(),
  started_at_ms: z.number(),
  store: z.object({ kind: z.string(), label: z.string() }),
  auth: z.boolean(),
  owner: z.string(),
  traces: z.string(),
  sandbox: z.object({
    state: z.enum(["on", "off", "untried"]),
    kind: z.string().nullable(),
    language: z.string().nullable(),
    reason: z.string().nullable(),
  }),
  endpoints: z.array(endpoint),
  /** Background runs: with `auth`, those of the owner. Null if the store does not answer. */
  queue: z.object({ queued: z.int(), running: z.int() }).nullable(),
  streams: z.int(),
  is_demo: z.boolean(),
});

export type SystemReply = z.infer<typeof systemSchema>;
export type EndpointReply = z.infer<typeof endpoint>;
