// The query parameters of the endpoints that read. What is not known is ignored; an empty value is none.

import { z } from "zod";
import { fieldError } from "./field-error.ts";
import { type ResponseStatus, responseStatuses } from "./status.ts";

/** A page of a list. */
export interface PageQuery {
  limit: number;
  order: "asc" | "desc";
  after?: string;
  before?: string;
}

export interface ListQuery extends PageQuery {
  status?: ResponseStatus;
  model?: string;
  background?: boolean;
}

export interface RetrieveQuery {
  stream: boolean;
  /** The sequence number after which the events begin. Default: all of them. */
  starting_after?: number;
  include: string[];
}

const pageShape = {
  limit: z.int().min(1).max(100).default(20).describe("How many to give."),
  order: z.enum(["asc", "desc"]).default("desc").describe("By the time of creation."),
  after: z.string().optional().describe("The id after which the page begins."),
  before: z.string().optional().describe("The id before which the page ends."),
};

export const pageQuerySchema = z.object(pageShape);

export const listQuerySchema = z.object({
  ...pageShape,
  status: z.enum(responseStatuses).optional(),
  model: z.string().optional(),
  background: z.boolean().optional(),
});

const include = z
  .array(z.string())
  .default([])
  .describe("Data to add, such as `reasoning.encrypted_content`.");

/** Of conversation items. What they have is always shown, so `include` adds nothing. */
export const itemQuerySchema = z.object({ include });
export const itemsQuerySchema = z.object({ ...pageShape, include });

export const retrieveQuerySchema = z.object({
  stream: z.boolean().default(false).describe("Whether to get the events, and follow those that come."),
  starting_after: z.int().min(0).optional().describe("The sequence number after which the events begin."),
  include,
});

/** `limit` (1 to 100, default 20), `order` (default: newest first), `after` and `before`. Throws a 400. */
export function parsePageQuery(params: URLSearchParams): PageQuery {
  return parse(pageQuerySchema, params);
}

/** A page, with the filters `status`, `model` and `background`. Throws a 400. */
export function parseListQuery(params: URLSearchParams): ListQuery {
  return parse(listQuerySchema, params);
}

/** `stream` (default: false), `starting_after` and `include`. Throws a 400. */
export function parseRetrieveQuery(params: URLSearchParams): RetrieveQuery {
  return parse(retrieveQuerySchema, params);
}

function parse<T extends z.ZodObject>(schema: T, params: URLSearchParams): Defined<z.infer<T>> {
  const given = Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, field]) => {
      const value = toValue(params, name, innermost(field));
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const result = schema.safeParse(given);
  if (!result.success) throw fieldError(result.error, given);
  return result.data as Defined<z.infer<T>>;
}

/** Keys without a value are not there at all, so that none of them is `undefined`. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function innermost(field: unknown): unknown {
  const isWrapped = field instanceof z.ZodOptional || field instanceof z.ZodDefault;
  return isWrapped ? innermost(field.unwrap()) : field;
}

/** A parameter as the kind of value that is expected, where it can be read as that; else as the text that it is. */
function toValue(params: URLSearchParams, name: string, field: unknown): unknown {
  if (field instanceof z.ZodArray) return all(params, name);
  const text = params.get(name) || undefined;
  if (field instanceof z.ZodNumber && text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (field instanceof z.ZodBoolean && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** Clients write lists as `include=a&include=b`, `include[]=a` or `include=a,b`. */
function all(params: URLSearchParams, name: string): string[] {
  const values = [...params.getAll(name), ...params.getAll(`${name}[]`)];
  return values.flatMap((value) => value.split(",")).filter((value) => value !== "");
}
