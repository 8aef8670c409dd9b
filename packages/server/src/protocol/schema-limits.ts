// Limits the size of a request's tools and schemas: each schema is compiled for each request, and sent to the model.

import type { JsonObject } from "rondo";
import { invalidRequest } from "./api-error.ts";
import type { TextOptions } from "./text-format.ts";
import type { ToolDefinition } from "./tools.ts";

export interface SchemaLimits {
  /** The largest schema of a tool or of the text format. */
  maxSchemaBytes: number;
  /** The largest size of all tools together. */
  maxToolBytes: number;
}

/** 256 KiB for a schema, 2 MB for all tools. */
export const defaultSchemaLimits: SchemaLimits = { maxSchemaBytes: 262_144, maxToolBytes: 2_000_000 };

/** Throws a 400 that names the schema. `given` are the tools as they came, with the client's indexes. */
export function checkSchemaSizes(
  { tools, text }: { tools: readonly ToolDefinition[]; text: TextOptions },
  given: readonly JsonObject[],
  { maxSchemaBytes, maxToolBytes }: SchemaLimits,
): void {
  // Nearly always the first look is enough: writing all tools as JSON takes longer than reading them.
  const isSmall = mostBytes(tools) <= Math.min(maxSchemaBytes, maxToolBytes);
  let total = 0;
  for (const [index, tool] of isSmall ? [] : tools.entries()) {
    const bytes = bytesOf(tool);
    total += bytes;
    for (const field of bytes > maxSchemaBytes ? ["parameters", "output_schema"] : [])
      if (bytesOf(tool[field]) > maxSchemaBytes) {
        const at = given[index]?.["name"] === tool.name ? `tools[${index}].${field}` : "tools";
        throw tooLarge(at, maxSchemaBytes, `the schema of '${tool.name}'`);
      }
  }
  if (total > maxToolBytes) throw tooLarge("tools", maxToolBytes, `${total} in ${tools.length} tools`);
  if (text.format.type === "json_schema" && bytesOf(text.format.schema) > maxSchemaBytes)
    throw tooLarge("text.format.schema", maxSchemaBytes, "more");
}

/** More bytes than a value has as JSON, without writing it. */
function mostBytes(value: unknown): number {
  // An escaped character has at most six.
  if (typeof value === "string") return 6 * value.length + 3;
  if (typeof value !== "object" || value === null) return 30;
  let sum = 3;
  if (Array.isArray(value)) for (const entry of value) sum += mostBytes(entry);
  else
    for (const key in value)
      sum += 6 * key.length + 4 + mostBytes((value as Readonly<Record<string, unknown>>)[key]);
  return sum;
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

function tooLarge(param: string, max: number, received: string) {
  return invalidRequest(
    param,
    `${param}: expected at most ${max} bytes of JSON, got ${received}. Send less.`,
  );
}
