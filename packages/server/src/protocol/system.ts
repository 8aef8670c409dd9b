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

export const toolListSchema = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["local", "mcp", "sandbox"]),
      /** By which requests name its server; null for tools of the sandbox, which are named by their type. */
      server_label: z.string().nullable(),
      description: z.string(),
      input_schema: z.record(z.string(), z.unknown()),
      requires_approval: z.boolean(),
      /** Whether requests get it without naming it. */
      is_offered: z.boolean(),
    }),
  ),
  servers: z.array(
    z.object({
      label: z.string(),
      state: z.enum(["connected", "connecting", "failed", "idle"]),
      error: z.string().nullable(),
      /** How many tools it has, as far as that is known. */
      tools: z.int(),
    }),
  ),
});

export type ToolListReply = z.infer<typeof toolListSchema>;

export const callToolSchema = z.object({
  name: z.string().min(1).max(256).describe("The tool, by its name in `GET /v1/tools`."),
  server_label: z
    .string()
    .max(256)
    .exactOptional()
    .describe("Its server; needed if several have a tool of this name."),
  arguments: z.record(z.string(), z.unknown()).exactOptional().describe("Default: none."),
});

export const toolCallReplySchema = z.object({
  object: z.literal("tool.call"),
  is_error: z.boolean(),
  /** What a model would read: at most 1 MB, and a note if that is not all. */
  output: z.string(),
  is_cut: z.boolean(),
  duration_ms: z.number(),
});

export type ToolCallReply = z.infer<typeof toolCallReplySchema>;

const sample = z.object({
  at_ms: z.number(),
  /** These three: since the sample before. */
  requests: z.int(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  /** The median since the sample before; null if no model began to answer. */
  first_token_ms: z.number().nullable(),
  rss_bytes: z.int(),
  heap_bytes: z.int(),
  /** Background runs. Null while nobody looks at the samples. */
  queued: z.int().nullable(),
  running: z.int().nullable(),
  streams: z.int(),
  /** The longest time that the event loop was late. */
  event_loop_ms: z.number(),
});

export type SampleReply = z.infer<typeof sample>;

export const sampleListSchema = z.object({
  object: z.literal("list"),
  /** The time between two samples. */
  interval_ms: z.int(),
  data: z.array(sample),
});

export const sampleQuerySchema = z.object({
  after_ms: z.int().min(0).exactOptional().describe("The time after which the samples begin."),
});

const logLine = z.object({
  n: z.int(),
  time: z.string(),
  level: z.string(),
  message: z.string(),
  fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});

export type LogLineReply = z.infer<typeof logLine>;

export const logSchema = z.object({
  object: z.literal("list"),
  data: z.array(logLine),
  /** The number to ask for more after. */
  next: z.int(),
  boot_id: z
    .string()
    .describe("Of the server's process. When it changes, the numbers begin anew: ask again without `after`."),
});

export type LogReply = z.infer<typeof logSchema>;

export const logQuerySchema = z.object({
  after: z
    .int()
    .min(0)
    .exactOptional()
    .describe("The number after which the lines begin. Default: the last ones."),
  limit: z.int().min(1).max(1000).default(200).describe("How many lines to give."),
});

export const systemModelListSchema = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      id: z.string(),
      /** The name of its model server, as in `GET /v1/system`. */
      endpoint: z.string(),
      kind: z.string(),
      profile: z.array(
        z.object({
          name: z.string(),
          value: z.unknown(),
          from: z.enum(["config", "server", "known model", "default"]),
        }),
      ),
      context_window: z.int().nullable(),
      slots,
    }),
  ),
});

export type SystemModelListReply = z.infer<typeof systemModelListSchema>;

export const checkModelSchema = z.object({
  model: z.string().min(1).max(1024),
  check: z
    .enum(["answer", "stream", "tool"])
    .exactOptional()
    .describe("The only check to make. Default: all."),
});

export const modelCheckReplySchema = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      name: z.string(),
      /** Whether it works, be it with a warning. */
      ok: z.boolean(),
      status: z.enum(["ok", "warning", "failed", "skipped"]),
      code: z.string(),
      detail: z.string(),
      ms: z.number(),
    }),
  ),
});

export type ModelCheckReply = z.infer<typeof modelCheckReplySchema>;
