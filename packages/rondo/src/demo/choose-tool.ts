// Chooses the tool for a step by the words of its name and description, and plans the call.

import { isPlainObject } from "../error/check.ts";
import type { OpenAITool } from "../tool/tool.ts";
import { fillSchema, isNumeric, type Material } from "./fill-schema.ts";
import type { Operator } from "./sums.ts";

export interface PlannedCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** A call whose arguments fit the tool's schema; `undefined` if none were found. */
export function planCall({ function: it }: OpenAITool, material: Material): PlannedCall | undefined {
  const input = fillSchema({ type: "object", ...(isPlainObject(it.parameters) && it.parameters) }, material);
  return isPlainObject(input) ? { name: it.name, input } : undefined;
}

const operatorWords: Record<Operator, RegExp> = {
  "+": /\b(?:add|sum|plus)/,
  "-": /\b(?:subtract|minus|difference)/,
  "*": /\b(?:multipl|times|product)/,
  "/": /\b(?:divi|quotient)/,
  "%": /\b(?:mod|remainder)/,
  "^": /\b(?:pow|exponent)/,
};

/** The call for one operation, of a tool whose name or description has the operator's word. */
export function operationCall(
  tools: readonly OpenAITool[],
  operator: Operator,
  a: number,
  b: number,
): PlannedCall | undefined {
  const words = operatorWords[operator];
  // `power` may say that it multiplies; it is still for powers.
  const isForAny = (name: string) => Object.values(operatorWords).some((other) => other.test(name));
  return tools
    .filter(({ function: { name, description } }) => {
      const label = wordsOf(name).join(" ");
      return words.test(isForAny(label) ? label : wordsOf(description ?? "").join(" "));
    })
    .map((tool) => planCall(tool, { numbers: [a, b], texts: [], said: "" }))
    .find((call) => {
      const values = Object.values(call?.input ?? {}).flat();
      return values.filter((value) => value === a || value === b).length >= 2;
    });
}

/** The call that evaluates a whole expression, of a tool that takes one as text. */
export function expressionCall(tools: readonly OpenAITool[], sum: string): PlannedCall | undefined {
  return tools
    .filter((tool) => /calc|eval/i.test(tool.function.name) || "expression" in parametersOf(tool))
    .map((tool) => planCall(tool, { numbers: [], texts: [sum], said: "" }))
    .find((call) => Object.values(call?.input ?? {}).includes(sum));
}

const emptyWords = ["get", "fetch", "do", "run", "the", "a", "of", "for", "tool", "current"];

/** The tool that the text names: `get_weather` in "the weather in Paris". */
export function namedTool(tools: readonly OpenAITool[], text: string): OpenAITool | undefined {
  const said = new Set(wordsOf(text));
  let best: OpenAITool | undefined;
  let most = 0;
  for (const tool of tools) {
    const words = wordsOf(tool.function.name).filter((word) => !emptyWords.includes(word));
    if (words.length <= most || !words.every((word) => said.has(word))) continue;
    best = tool;
    most = words.length;
  }
  return best;
}

/** How many numbers a call of the tool must have. */
export function numbersNeeded(tool: OpenAITool): number {
  const required: unknown = tool.function.parameters?.required;
  const names = Array.isArray(required) ? required.map(String) : [];
  return names.filter((name) => isNumeric(parametersOf(tool)[name])).length;
}

/** The schemas of a tool's parameters by name. They come from anyone, and may be anything. */
function parametersOf({ function: { parameters } }: OpenAITool): Record<string, unknown> {
  const properties: unknown = parameters?.properties;
  return isPlainObject(properties) ? properties : {};
}

/** The words of a text or a name, in the singular: `getCurrent_times` has get, current and time. */
function wordsOf(text: string): string[] {
  const words =
    text
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => word.replace(/s$/, ""));
}
