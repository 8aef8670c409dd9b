// The definition of a tool as models get it: one object for the life of the tool, so that its JSON is written once, and
// not with every request.

import type { AnyTool, OpenAITool } from "./tool.ts";

const definitions = new WeakMap<AnyTool, OpenAITool>();
const texts = new WeakMap<OpenAITool, string>();

/** The definition. It is frozen. */
export function definitionOf(tool: AnyTool): OpenAITool {
  const known = definitions.get(tool);
  if (known) return known;
  // The schema is frozen already.
  const definition = tool.toOpenAI();
  Object.freeze(definition.function);
  definitions.set(tool, Object.freeze(definition));
  texts.set(definition, JSON.stringify(definition));
  return definition;
}

/** The JSON of definitions, also of those that somebody wrote by hand. */
export function definitionsJson(tools: readonly OpenAITool[]): string {
  return `[${tools.map((tool) => texts.get(tool) ?? JSON.stringify(tool)).join(",")}]`;
}
