// Limits of one answer: a model that repeats itself, or a broken server, never stops.

import { checkLimit } from "../error/check.ts";

export interface AnswerLimits {
  /** How many bytes one answer may have, decompressed, including the JSON around its text. */
  readonly maxAnswerBytes: number;
  /** How many tool calls one answer may have. */
  readonly maxCallsPerAnswer: number;
}

const defaults: AnswerLimits = { maxAnswerBytes: 64 * 1024 * 1024, maxCallsPerAnswer: 128 };

/** The limits among the options of a model, checked, with their defaults. */
export function answerLimits(options: { [K in keyof AnswerLimits]?: number | undefined }): AnswerLimits {
  return {
    maxAnswerBytes: checkLimit("maxAnswerBytes", options.maxAnswerBytes ?? defaults.maxAnswerBytes),
    maxCallsPerAnswer: checkLimit(
      "maxCallsPerAnswer",
      options.maxCallsPerAnswer ?? defaults.maxCallsPerAnswer,
    ),
  };
}
