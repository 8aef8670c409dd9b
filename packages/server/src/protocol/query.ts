// The query parameters of the endpoints that read. Unknown ones are ignored. An empty value counts as absent,
// unless the parameter refuses it.

import { z } from "zod";
import { parseField } from "./field-error.ts";
import { responseStatuses } from "./status.ts";

const pageShape = {
  limit: z.int().min(1).max(100).default(20).describe("How many to give."),
  order: z.enum(["asc", "desc"]).default("desc").describe("By the time of creation."),
  after: z.string().exactOptional().describe("The id after which the page begins."),
  before: z.string().exactOptional().describe("The id before which the page ends."),
};

export const pageQuerySchema = z.object(pageShape);

export const listQuerySchema = z.object({
  ...pageShape,
  status: z.enum(responseStatuses).exactOptional(),
  model: z.string().exactOptional(),
  background: z.boolean().exactOptional(),
});

const ms = z.int().min(0);

export const runsQuerySchema = z.object({
  ...listQuerySchema.shape,
  source: z.string().max(64).exactOptional().describe("`metadata.source` of the request."),
  // An id that is missing by mistake must not give the runs of all threads.
  thread: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe("The first response of a chain, or a conversation: only what belongs to it."),
  roots: z
    .boolean()
    .default(false)
    .describe("Whether only the first response of each thread is given, of those that are kept."),
  search: z
    .string()
    .max(120)
    .exactOptional()
    .describe(
      "A part of the title, in any case; or an id, or its first characters. A page may then have fewer hits than `limit`, or none, though there are more: go on after its `last_id`.",
    ),
  created_after_ms: ms.exactOptional(),
  created_before_ms: ms.exactOptional(),
  include: z
    .array(z.enum(["response", "input"]))
    .default([])
    .describe(
      "What to add to each run: the response, and the first 100 items of its input. A page may then have fewer than `limit`: go on after its `last_id`.",
    ),
});

const include = z
  .array(z.string())
  .default([])
  .describe("Data to add, such as `reasoning.encrypted_content`.");

/** Of conversation items, which are always shown whole: `include` adds nothing. */
export const itemQuerySchema = z.object({ include });
export const itemsQuerySchema = z.object({ ...pageShape, include });

export const retrieveQuerySchema = z.object({
  stream: z.boolean().default(false).describe("Whether to get the events, and follow those that come."),
  starting_after: z
    .int()
    .min(0)
    .exactOptional()
    .describe("The sequence number after which the events begin."),
  include,
});

export const traceQuerySchema = z.object({
  after: z.int().min(-1).default(-1).describe("The number of the event after which the events begin."),
  include: z
    .array(z.enum(["requests", "chunks", "content"]))
    .default([])
    .describe(
      "What to add, if it was recorded (`traces: full`): the bodies of requests to the model, the chunks of its answers, and what went into tools and came out.",
    ),
});

export type TraceQuery = z.infer<typeof traceQuerySchema>;
export type PageQuery = z.infer<typeof pageQuerySchema>;
export type ListQuery = z.infer<typeof listQuerySchema>;
export type RunsQuery = z.infer<typeof runsQuerySchema>;

/** The parameters of a schema, with its defaults. Throws a 400. */
export function parseQuery<T extends z.ZodObject>(schema: T, params: URLSearchParams): z.infer<T> {
  const given = Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, field]) => {
      const value = toValue(params, name, innermost(field));
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return parseField(schema, given);
}

function innermost(field: unknown): unknown {
  const isWrapped = field instanceof z.ZodExactOptional || field instanceof z.ZodDefault;
  return isWrapped ? innermost(field.unwrap()) : field;
}

/** A parameter as the expected kind of value, where it can be read as one; else as a string. */
function toValue(params: URLSearchParams, name: string, field: unknown): unknown {
  if (field instanceof z.ZodArray) return all(params, name);
  const given = params.get(name) ?? undefined;
  const refusesEmpty = field instanceof z.ZodString && (field.minLength ?? 0) > 0;
  const text = given === "" && !refusesEmpty ? undefined : given;
  if (field instanceof z.ZodNumber && text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (field instanceof z.ZodBoolean && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** Clients write lists as `include=a&include=b`, `include[]=a` or `include=a,b`. */
function all(params: URLSearchParams, name: string): string[] {
  const values = [...params.getAll(name), ...params.getAll(`${name}[]`)];
  return values.flatMap((value) => value.split(",")).filter((value) => value !== "");
}
