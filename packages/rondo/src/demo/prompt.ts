// Reads a prompt: its steps, and what arguments can be made of.

import type { Material } from "./fill-schema.ts";

export interface Step {
  readonly text: string;
  /** Whether it waits for the step before and may use its result: "…, then multiply it by 10". */
  readonly isNext: boolean;
}

/** More of a prompt is not read, and more steps are not taken. */
const maxLength = 4_000;
const maxSteps = 16;

const verbs = "what|add|subtract|multiply|divide|say|repeat|search|find|tell|use|call";
const ends = new RegExp(
  String.raw`"[^"\n]*"|([?!;\n]+|\.(?=\s|$)|(?:^|,? )(?:and )?then\b,?|,? and (?=(?:${verbs})\b))`,
  "gi",
);

export function stepsOf(prompt: string): Step[] {
  const text = prompt
    .slice(0, maxLength)
    .replaceAll(/[^\S\n]+/g, " ")
    .trim();
  const steps: Step[] = [];
  let start = 0;
  let isNext = false;
  for (const { index, 0: found, 1: end } of [...text.matchAll(ends), { index: text.length, 0: "", 1: "" }]) {
    if (end === undefined) continue; // in quotes
    const step = text.slice(start, index).trim();
    if (step !== "") {
      steps.push({
        text: step,
        isNext: (isNext && steps.length > 0) || /(?<!\bis )\b(?:it|the result)\b/i.test(step),
      });
      isNext = false;
    }
    start = index + found.length;
    isNext ||= /then/i.test(end);
  }
  return steps.slice(0, maxSteps);
}

/** What a tool's arguments can be made of: the text in quotes or else the topic, and the numbers. */
export function materialOf(prompt: string): Material {
  const text = prompt.slice(0, maxLength);
  const quotes = Array.from(text.matchAll(/"([^"\n]*)"/g), ([, quoted = ""]) => quoted);
  const topic =
    /\b(?:in|for|of|about|at|to|on|from|named|with) (.+)$/is.exec(text)?.[1] ?? text.replace(/^\w+ /, "");
  return {
    texts: quotes.length > 0 ? quotes : [topic.replace(/[.?!]$/, "").trim()],
    numbers: (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number).filter((number) => Number.isFinite(number)),
    said: text,
  };
}
