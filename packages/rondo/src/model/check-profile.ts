// Checks the fields of a user's profile, so that a misspelt one is not silently ignored.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkLimit, checkOptions, checkString } from "../error/check.ts";
import type { ModelProfile } from "./profile.ts";

const choices = {
  sendReasoning: ["reasoning_content", "reasoning", "think-tags", "none"],
  outputMode: ["native", "tool", "prompt"],
  text: ["incremental", "cumulative"],
} satisfies { [K in "sendReasoning" | "outputMode" | "text"]: ModelProfile[K][] };

const switches = ["startsThinking", "honoursToolChoice", "repairArguments", "onlyStreams"] as const;
const lists = ["reasoningFields", "toolDialects", "thinkTags"] as const;

const known = [
  "name",
  ...lists,
  ...Object.keys(choices),
  ...switches,
  "contextWindow",
] as const satisfies readonly string[];

export function checkProfile(field: string, profile: Partial<ModelProfile>): void {
  checkOptions(field, profile, known);
  const { name, contextWindow } = profile;
  if (name !== undefined) checkString(`${field}.name`, name);
  for (const key of switches) if (profile[key] !== undefined) checkBoolean(`${field}.${key}`, profile[key]);
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
