// Which tool calculates what, and with which arguments.

import { isPlainObject } from "../error/check.ts";
import type { OpenAITool } from "../tool/tool.ts";
import type { Operator } from "./expression.ts";
import { fillSchema, isNumeric, typeOf } from "./fill-schema.ts";
import { toolsFor } from "./tool-names.ts";

export interface PlannedCall {
  readonly tool: OpenAITool;
  readonly input: unknown;
}

const operatorWords: Record<Operator, readonly string[]> = {
  "+": ["add", "adds", "sum", "sums", "plus", "addition", "total"],
  "-": ["subtract", "subtracts", "minus", "sub", "difference", "subtraction"],
  "*": ["multiply", "multiplies", "times", "mul", "product", "multiplication"],
  "/": ["divide", "divides", "div", "quotient", "division"],
  "%": ["mod", "modulo", "remainder"],
  "^": ["power", "pow", "exponent", "raise"],
};
const calculators = ["calculate", "calculator", "calc", "compute", "math", "arithmetic", "evaluate", "eval"];

/** The call for one operation: of a tool for that operator, or of one that is told which. */
export function callFor(
  tools: readonly OpenAITool[],
  operator: Operator,
  a: number,
  b: number,
): PlannedCall | undefined {
  for (const tool of [...toolsFor(tools, operatorWords[operator]), ...toolsFor(tools, calculators)]) {
    const given = operandsOf(tool, operator, a, b);
    const input = given && fillSchema(tool.function.parameters, { texts: [], numbers: [], said: "" }, given);
    if (input !== undefined) return { tool, input };
  }
  return undefined;
}

/** The call that calculates a whole expression, of a tool that takes one as text. */
export function expressionCall(tools: readonly OpenAITool[], text: string): PlannedCall | undefined {
  for (const tool of tools) {
    const properties = propertiesOf(tool);
    const isCalculator = toolsFor([tool], calculators).length > 0;
    const name = Object.keys(properties).find(
      (key) =>
        /^(?:expression|expr|formula|equation|calculation)$/i.test(key) ||
        (isCalculator && Object.keys(properties).length === 1 && typeOf(properties[key] ?? {}) === "string"),
    );
    if (name === undefined) continue;
    const input = fillSchema(
      tool.function.parameters,
      { texts: [text], numbers: [], said: "" },
      { [name]: text },
    );
    if (input !== undefined) return { tool, input };
  }
  return undefined;
}

function operandsOf(
  tool: OpenAITool,
  operator: Operator,
  a: number,
  b: number,
): Record<string, unknown> | undefined {
  const properties = Object.entries(propertiesOf(tool));
  const choice = properties.find(([, schema]) => Array.isArray(schema.enum));
  const word = choice?.[1].enum?.find(
    (it) => it === operator || operatorWords[operator].includes(String(it)),
  );
  if (word === undefined && (choice || toolsFor([tool], operatorWords[operator]).length === 0))
    return undefined;
  const chosen = choice ? { [choice[0]]: word } : {};

  const numeric = properties.filter(([, schema]) => isNumeric(schema) && !schema.enum).map(([name]) => name);
  const [first, second] = numeric;
  if (first !== undefined && second !== undefined) return { ...chosen, [first]: a, [second]: b };
  const list = properties.find(([, { items }]) => isPlainObject(items) && isNumeric(items));
  return list && { ...chosen, [list[0]]: [a, b] };
}

function propertiesOf(tool: OpenAITool) {
  const { properties } = tool.function.parameters ?? {};
  return isPlainObject(properties) ? properties : {};
}
