// Checks the fields of a user's profile, so that a misspelt one is not silently ignored.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkLimit, checkOptions, checkString } from "../error/check.ts";
import type { ModelProfile } from "./profile.ts";

type Check = (field: string, value: unknown) => unknown;

const checks: Readonly<Record<keyof ModelProfile, Check>> = {
  name: checkString,
  reasoningFields: checkList,
  sendReasoning: oneOf("reasoning_content", "reasoning", "think-tags", "none"),
  thinkTags: checkList,
  startsThinking: checkBoolean,
  toolDialects: checkList,
  honoursToolChoice: checkBoolean,
  namesToolChoice: checkBoolean,
  shapeWithTools: oneOf("together", "last"),
  outputMode: oneOf("native", "tool", "prompt"),
  text: oneOf("incremental", "cumulative"),
  repairArguments: checkBoolean,
  onlyStreams: checkBoolean,
  constrainsCalls: checkBoolean,
  callIds: oneOf("calls", "functions"),
  contextWindow: checkLimit,
};

export function checkProfile(field: string, profile: Partial<ModelProfile>): void {
  checkOptions(field, profile, Object.keys(checks));
  for (const [key, value] of Object.entries(profile))
    if (value !== undefined) checks[key as keyof ModelProfile](`${field}.${key}`, value);
}

function checkList(field: string, value: unknown): void {
  if (!Array.isArray(value)) throw new InvalidTypeError({ field, expected: "a list", received: value });
}

function oneOf(...words: readonly unknown[]): Check {
  return (field, value) => {
    if (words.includes(value)) return;
    const expected = `one of ${words.join(", ")}`;
    throw new InvalidArgumentError({ field, expected, received: value });
  };
}
