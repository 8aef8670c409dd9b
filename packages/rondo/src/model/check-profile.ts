// Checks what a user says of a model's quirks, so that a misspelt word is not silently ignored.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkLimit, checkOptions, checkString } from "../error/check.ts";
import type { ModelProfile } from "./profile.ts";

const choices = {
  sendReasoning: ["reasoning_content", "reasoning", "think-tags", "none"],
  outputMode: ["native", "tool", "prompt"],
  text: ["incremental", "cumulative"],
} satisfies { [K in "sendReasoning" | "outputMode" | "text"]: ModelProfile[K][] };

const lists = ["reasoningFields", "toolDialects", "thinkTags"] as const;

const known = [
  "name",
  ...lists,
  ...Object.keys(choices),
  "startsThinking",
  "honoursToolChoice",
  "onlyStreams",
  "contextWindow",
] as const satisfies readonly string[];

export function checkProfile(field: string, profile: Partial<ModelProfile>): void {
  checkOptions(field, profile, known);
  const { name, startsThinking, honoursToolChoice, onlyStreams, contextWindow } = profile;
  if (name !== undefined) checkString(`${field}.name`, name);
  if (startsThinking !== undefined) checkBoolean(`${field}.startsThinking`, startsThinking);
  if (honoursToolChoice !== undefined) checkBoolean(`${field}.honoursToolChoice`, honoursToolChoice);
  if (onlyStreams !== undefined) checkBoolean(`${field}.onlyStreams`, onlyStreams);
  if (contextWindow !== undefined) checkLimit(`${field}.contextWindow`, contextWindow);
  for (const key of lists)
    if (profile[key] !== undefined && !Array.isArray(profile[key]))
      throw new InvalidTypeError({ field: `${field}.${key}`, expected: "a list", received: profile[key] });
  for (const [key, words] of Object.entries<readonly string[]>(choices)) {
    const value = profile[key as keyof typeof choices];
    if (value === undefined || words.includes(value)) continue;
    const expected = `one of ${words.join(", ")}`;
    throw new InvalidArgumentError({ field: `${field}.${key}`, expected, received: value });
  }
}
