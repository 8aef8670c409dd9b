// What is made of the definitions of tools, such as their JSON. The same tools are sent with every request, so it is made
// once.

import type { JsonSchema } from "./json-schema.ts";
import type { OpenAITool } from "./tool.ts";

/** Schemas that never change. */
const fixed = new WeakSet<JsonSchema>();

/** Notes a schema that is frozen to any depth. */
export function noteFixedSchema(schema: JsonSchema): void {
  fixed.add(schema);
}

/** What a function makes of a definition: again only for those that somebody wrote or changed by hand. */
export function oncePerDefinition<T>(make: (tool: OpenAITool) => T): (tool: OpenAITool) => T {
  const made = new WeakMap<JsonSchema, { name: string; description: string; value: T }>();
  return (tool) => {
    if (!isUsual(tool) || !fixed.has(tool.function.parameters)) return make(tool);
    const { name, description, parameters } = tool.function;
    const before = made.get(parameters);
    if (before && before.name === name && before.description === description) return before.value;
    const value = make(tool);
    made.set(parameters, { name, description, value });
    return value;
  };
}

/** The JSON of definitions. */
export function definitionsJson(tools: readonly OpenAITool[]): string {
  return `[${tools.map(definitionJson).join(",")}]`;
}

const definitionJson = oncePerDefinition((tool) => JSON.stringify(tool));

/** Whether it has the fields of a definition, and no others. */
function isUsual(tool: OpenAITool): boolean {
  const { type, function: it } = tool;
  if (type !== "function" || typeof it.name !== "string" || typeof it.description !== "string") return false;
  for (const key in tool) if (key !== "type" && key !== "function") return false;
  for (const key in it) if (key !== "name" && key !== "description" && key !== "parameters") return false;
  return true;
}
