// What a request has that this server does not know. It is left out with a warning, or refused in strict mode.

import type { JsonObject } from "rondo";
import { invalidRequest } from "./api-error.ts";
import { createRequestSchema, harmlessFields } from "./create-request-schema.ts";
import { knownItems } from "./input-items.ts";
import { typesOf } from "./or-other.ts";
import { knownTools, type ToolDefinition } from "./tools.ts";

interface Options {
  isStrict: boolean;
  isKnownTool?: (tool: ToolDefinition) => boolean;
}

const fields = new Set([...Object.keys(createRequestSchema.shape), ...harmlessFields]);
const itemTypes = new Set<unknown>([...typesOf(knownItems), undefined, null]);
const toolTypes = new Set<unknown>(typesOf(knownTools));

/** One warning for each thing that is not known. Throws a 400 for the first of them in strict mode. */
export function findUnknown(body: JsonObject, { isStrict, isKnownTool }: Options): string[] {
  const warnings: string[] = [];
  const note = (param: string, what: string) => {
    if (isStrict)
      throw invalidRequest(
        param,
        `${param}: expected nothing unknown, got ${what}. Leave it out, or turn compat.strict off.`,
      );
    warnings.push(`${param}: ${what} is not known here and was ignored.`);
  };
  for (const field of Object.keys(body)) if (!fields.has(field)) note(field, "this field");
  for (const [index, item] of entries(body["input"]))
    if (!itemTypes.has(item["type"]))
      note(`input[${index}].type`, `an item of type ${JSON.stringify(item["type"])}`);
  for (const [index, tool] of entries(body["tools"]))
    if (!toolTypes.has(tool["type"]) && !isKnownTool?.(tool as ToolDefinition))
      note(`tools[${index}].type`, `a tool of type ${JSON.stringify(tool["type"])}`);
  return warnings;
}

function entries(list: unknown): [number, JsonObject][] {
  return Array.isArray(list) ? [...(list as JsonObject[]).entries()] : [];
}
