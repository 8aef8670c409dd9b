// The format of the answer (`text`) and the amount of thinking (`reasoning`).

import { z } from "zod";

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

/** As the response echoes it. */
export const textEcho = z.object({
  format: z.discriminatedUnion("type", [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({
      type: z.literal("json_schema"),
      name: z.string(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().exactOptional(),
      description: z.string().exactOptional(),
    }),
  ]),
  verbosity: z.enum(["low", "medium", "high"]).exactOptional(),
});

export type TextOptions = z.infer<typeof textEcho>;

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const summaries = ["auto", "concise", "detailed"] as const;

export const reasoning = z.looseObject({
  effort: z.enum(efforts).nullish(),
  summary: z.enum(summaries).nullish(),
  /** The old name of `summary`. */
  generate_summary: z.enum(summaries).nullish(),
});

/** As the response echoes it. */
export const reasoningEcho = z.object({
  effort: z.enum(efforts).nullable(),
  summary: z.enum(summaries).nullable(),
});

export type ReasoningOptions = z.infer<typeof reasoningEcho>;

/** The text options with plain text as the default, and without nulls. */
export function toTextOptions(given: z.infer<typeof text> | null | undefined): TextOptions {
  const options: TextOptions = { format: toFormat(given?.format) };
  if (given?.verbosity) options.verbosity = given.verbosity;
  return options;
}

function toFormat(given: z.infer<typeof format> | null | undefined): TextOptions["format"] {
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

/** The reasoning options, with null for absent ones. */
export function toReasoningOptions(given: z.infer<typeof reasoning> | null | undefined): ReasoningOptions {
  return { effort: given?.effort ?? null, summary: given?.summary ?? given?.generate_summary ?? null };
}
