// How the answer is to look (`text`) and how much the model is to think (`reasoning`).

import type { JsonSchema } from "rondo";
import { z } from "zod";

export type TextFormat =
  | { type: "text" }
  | { type: "json_object" }
  | { type: "json_schema"; name: string; schema: JsonSchema; strict?: boolean; description?: string };

export interface TextOptions {
  format: TextFormat;
  verbosity?: "low" | "medium" | "high";
}

export interface ReasoningOptions {
  effort: (typeof efforts)[number] | null;
  summary: (typeof summaries)[number] | null;
}

const format = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text") }),
  z.looseObject({ type: z.literal("json_object") }),
  z.looseObject({
    type: z.literal("json_schema"),
    name: z.string().min(1),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullish(),
    description: z.string().nullish(),
  }),
]);

export const text = z.looseObject({
  format: format.nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
});

/** As the response shows it. */
export const textEcho = z.object({
  format: z.discriminatedUnion("type", [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({
      type: z.literal("json_schema"),
      name: z.string(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().optional(),
      description: z.string().optional(),
    }),
  ]),
  verbosity: z.enum(["low", "medium", "high"]).optional(),
});

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const summaries = ["auto", "concise", "detailed"] as const;

export const reasoning = z.looseObject({
  effort: z.enum(efforts).nullish(),
  summary: z.enum(summaries).nullish(),
  /** The old name of `summary`. */
  generate_summary: z.enum(summaries).nullish(),
});

/** As the response shows it. */
export const reasoningEcho = z.object({
  effort: z.enum(efforts).nullable(),
  summary: z.enum(summaries).nullable(),
});

/** The text options with plain text as the default, and without nulls. */
export function toTextOptions(given: z.infer<typeof text> | null | undefined): TextOptions {
  const options: TextOptions = { format: toFormat(given?.format) };
  if (given?.verbosity) options.verbosity = given.verbosity;
  return options;
}

function toFormat(given: z.infer<typeof format> | null | undefined): TextFormat {
  if (!given) return { type: "text" };
  if (given.type !== "json_schema") return { type: given.type };
  const { type, name, schema, strict, description } = given;
  return {
    type,
    name,
    schema,
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
}

/** The reasoning options, with null for what was not said. */
export function toReasoningOptions(given: z.infer<typeof reasoning> | null | undefined): ReasoningOptions {
  return { effort: given?.effort ?? null, summary: given?.summary ?? given?.generate_summary ?? null };
}
