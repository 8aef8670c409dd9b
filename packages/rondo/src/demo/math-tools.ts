// Which tool calculates what, and with which arguments.

import { isPlainObject } from "../error/check.ts";
import type { OpenAITool } from "../tool/tool.ts";
import type { Operator } from "./expression.ts";
import { isNumeric, typeOf } from "./fill-schema.ts";
import { type PlannedCall, parametersOf, plannedCall } from "./tool-input.ts";
import { toolsFor, wordsOfName } from "./tool-names.ts";

const operatorWords: Record<Operator, readonly string[]> = {
  "+": ["add", "adds", "sum", "sums", "plus", "addition", "total"],
  "-": ["subtract", "subtracts", "minus", "sub", "difference", "subtraction"],
  "*": ["multiply", "multiplies", "times", "mul", "product", "multiplication"],
  "/": ["divide", "divides", "div", "quotient", "division"],
  "%": ["mod", "modulo", "remainder"],
  "^": ["power", "pow", "exponent", "raise"],
};
const calculators = ["calculate", "calculator", "calc", "compute", "math", "arithmetic", "evaluate", "eval"];

const wholeNames = /^(?:expression|expr|formula|equation|calculation)$/i;
const operatorNames = /^op(?:erator|eration)?$/i;
const nothing = { texts: [], numbers: [], said: "" };

/** The call for one operation: of a tool for that operator, or of one that is told which. */
export function callFor(
  tools: readonly OpenAITool[],
  operator: Operator,
  a: number,
  b: number,
): PlannedCall | undefined {
  const own = toolsFor(tools, operatorWords[operator]).filter((tool) => !isForAnother(tool, operator));
  for (const tool of own) {
    const operands = operandsOf(tool, a, b);
    const call = operands && plannedCall(tool, nothing, operands);
    if (call) return call;
  }
  for (const tool of tools) {
    const [operands, choice] = [operandsOf(tool, a, b), choiceOf(tool, operator)];
    const call = operands && choice && plannedCall(tool, nothing, { ...operands, ...choice });
    if (call) return call;
  }
  return undefined;
}

/** The call that calculates a whole expression, of a tool that takes one as text. */
export function expressionCall(tools: readonly OpenAITool[], text: string): PlannedCall | undefined {
  for (const tool of tools) {
    const parameters = parametersOf(tool).filter(([, schema]) => typeOf(schema) === "string");
    const isCalculator = parameters.length === 1 && toolsFor([tool], calculators).length > 0;
    const [name] = parameters.find(([name]) => isCalculator || wholeNames.test(name)) ?? [];
    const call = name !== undefined && plannedCall(tool, nothing, { [name]: text });
    if (call) return call;
  }
  return undefined;
}

/** `power` may say in its description that it multiplies; it is still for powers. */
function isForAnother(tool: OpenAITool, operator: Operator): boolean {
  const words = wordsOfName(tool.function.name);
  const isFor = (which: readonly string[]) => words.some((word) => which.includes(word));
  return !isFor(operatorWords[operator]) && Object.values(operatorWords).some(isFor);
}

/** The two numbers in the first two parameters that take one, or in a list of numbers. */
function operandsOf(tool: OpenAITool, a: number, b: number): Record<string, unknown> | undefined {
  const parameters = parametersOf(tool).filter(([, schema]) => !Array.isArray(schema.enum));
  const [first, second] = parameters.filter(([, schema]) => isNumeric(schema)).map(([name]) => name);
  if (first !== undefined && second !== undefined) return { [first]: a, [second]: b };
  const [list] = parameters.find(([, { items }]) => isPlainObject(items) && isNumeric(items)) ?? [];
  return list === undefined ? undefined : { [list]: [a, b] };
}

/** The operator in a parameter that takes one: its sign or its word. */
function choiceOf(tool: OpenAITool, operator: Operator): Record<string, unknown> | undefined {
  for (const [name, schema] of parametersOf(tool)) {
    const known = [operator, ...operatorWords[operator]] as unknown[];
    const word = Array.isArray(schema.enum) ? schema.enum.find((it) => known.includes(it)) : undefined;
    if (word !== undefined) return { [name]: word };
    if (operatorNames.test(name) && typeOf(schema) === "string") return { [name]: operator };
  }
  return undefined;
}
