// Unknown parts of a request: ignored with a warning, or rejected in strict mode.

import type { JsonObject } from "rondo";
import { invalidRequest } from "./api-error.ts";
import type { ParseOptions } from "./create-request.ts";
import { createRequestSchema, harmlessFields, includables } from "./create-request-schema.ts";
import { describeValue, formatPath } from "./field-error.ts";
import { knownItems } from "./input-items.ts";
import { fieldsByType } from "./open-union.ts";
import { serviceTiers } from "./response.ts";
import { knownTools, type ToolDefinition } from "./tools.ts";

type Options = Pick<ParseOptions, "isStrict" | "isKnownTool" | "isKnownItem">;

const topFields = new Set([...Object.keys(createRequestSchema.shape), ...harmlessFields]);
const itemFields = fieldsByType(knownItems);
const toolFields = fieldsByType(knownTools);

/**
 * One warning for each kind of unknown part. In strict mode the first of them is a 400, and so is an unknown field of
 * a known item or tool.
 */
export function findUnknown(body: JsonObject, { isStrict, isKnownTool, isKnownItem }: Options): string[] {
  let warnings: Map<string, string> | undefined;
  const note = (path: readonly PropertyKey[], what: string) => {
    const param = formatPath(path);
    if (isStrict)
      throw invalidRequest(
        param,
        `${param}: expected only what this server knows, as it is set to be strict; got ${what}. Leave it out.`,
      );
    warnings ??= new Map();
    if (!warnings.has(what)) warnings.set(what, `${param}: ${what} is not known here and was ignored.`);
  };
  const noteFields = (path: readonly PropertyKey[], value: JsonObject, known: ReadonlySet<string>) => {
    for (const field in value)
      if (!known.has(field)) note([...path, field], `the field ${describeValue(field)}`);
  };

  noteFields([], body, topFields);
  each(body["input"], (item, index) => {
    const known = itemFields.get(item["type"] ?? "message");
    if (known && isStrict) noteFields(["input", index], item, known);
    const { type } = item;
    if (!known && !(typeof type === "string" && isKnownItem?.(type)))
      note(["input", index, "type"], `the item type ${describeValue(type)}`);
  });
  each(body["tools"], (tool, index) => {
    const known = toolFields.get(tool["type"]);
    if (known && isStrict) noteFields(["tools", index], tool, known);
    if (!known && !isKnownTool?.(tool as ToolDefinition))
      note(["tools", index, "type"], `the tool type ${describeValue(tool["type"])}`);
  });
  for (const [index, value] of ((body["include"] ?? []) as string[]).entries())
    if (!includables.includes(value)) note(["include", index], `the value ${describeValue(value)}`);
  each(body["context_management"], ({ type }, index) => {
    if (type !== "compaction") note(["context_management", index, "type"], `the type ${describeValue(type)}`);
  });
  const tier = body["service_tier"] ?? "auto";
  if (!serviceTiers.some((known) => known === tier))
    note(["service_tier"], `the tier ${describeValue(tier)}`);
  return warnings ? [...warnings.values()] : [];
}

function each(list: unknown, visit: (entry: JsonObject, index: number) => void): void {
  if (Array.isArray(list)) (list as JsonObject[]).forEach(visit);
}
