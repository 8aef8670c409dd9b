// What a tool takes, as far as it says so: its schema may come from anyone, and be anything.

import { isPlainObject } from "../error/check.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { OpenAITool } from "../tool/tool.ts";
import { fillSchema, type Material } from "./fill-schema.ts";

/** A call that is to be made. */
export interface PlannedCall {
  readonly tool: OpenAITool;
  readonly input: Record<string, unknown>;
}

/** A call with arguments that fit the tool's schema; `undefined` where none were found. */
export function plannedCall(
  tool: OpenAITool,
  material: Material,
  given: Record<string, unknown> = {},
): PlannedCall | undefined {
  const parameters: unknown = tool.function.parameters;
  const schema = { type: "object", ...(isPlainObject(parameters) && parameters) };
  const input = fillSchema(schema, material, given);
  return isPlainObject(input) ? { tool, input } : undefined;
}

/** The parameters by name, with those that are no schemas left out. */
export function parametersOf({ function: { parameters } }: OpenAITool): [name: string, schema: JsonSchema][] {
  const properties: unknown = (parameters as JsonSchema | null | undefined)?.properties;
  if (!isPlainObject(properties)) return [];
  return Object.entries(properties).filter((entry): entry is [string, JsonSchema] => isPlainObject(entry[1]));
}

/** The parameters that a call must have. */
export function requiredParametersOf(tool: OpenAITool): JsonSchema[] {
  const required: unknown = (tool.function.parameters as JsonSchema | null | undefined)?.required;
  if (!Array.isArray(required)) return [];
  return parametersOf(tool).flatMap(([name, schema]) => (required.includes(name) ? [schema] : []));
}
