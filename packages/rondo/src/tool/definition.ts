// The definitions of tools as JSON. The same tools are sent with every request, so each is written once.

import type { JsonSchema } from "./json-schema.ts";
import type { OpenAITool } from "./tool.ts";

/** A definition as it was written. */
interface Written {
  readonly name: string;
  readonly description: string;
  readonly json: string;
}

/** By the schema of the input, of those that never change. */
const written = new WeakMap<JsonSchema, Written | "not yet">();

/** Notes a schema that is frozen to any depth. */
export function noteFixedSchema(schema: JsonSchema): void {
  written.set(schema, "not yet");
}

/** The JSON of definitions, also of those that somebody wrote or changed by hand. */
export function definitionsJson(tools: readonly OpenAITool[]): string {
  return `[${tools.map(definitionJson).join(",")}]`;
}

function definitionJson(tool: OpenAITool): string {
  const { name, description, parameters } = tool.function;
  const before = isUsual(tool) ? written.get(parameters) : undefined;
  if (before === undefined) return JSON.stringify(tool);
  if (before !== "not yet" && before.name === name && before.description === description) return before.json;
  const json = JSON.stringify(tool);
  written.set(parameters, { name, description, json });
  return json;
}

/** Whether it has the fields of a definition, and no others. */
function isUsual({ type, function: it, ...others }: OpenAITool): boolean {
  const areTexts = typeof it.name === "string" && typeof it.description === "string";
  const hasOthers = Object.keys(others).length > 0 || Object.keys(it).length !== 3;
  return type === "function" && areTexts && !hasOthers;
}
