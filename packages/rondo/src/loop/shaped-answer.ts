// When the shape of an answer is requested. Where the grammar of a shape forbids calls, the model first works with its
// tools, and the shape is enforced once it calls none any more.

import { isPlainObject } from "../error/check.ts";
import { parseJson } from "../model/parse-json.ts";
import type { ModelProfile } from "../model/profile.ts";
import type { ModelRequest, OutputFormat } from "../model/provider.ts";
import { compileJsonSchema } from "../tool/json-schema.ts";

/** Whether a request for a shape is made without it first, because the model may call tools. */
export function isShapedLast({ output, tools, toolChoice }: ModelRequest, profile: ModelProfile): boolean {
  return (
    output !== undefined &&
    profile.outputMode === "native" &&
    profile.shapeWithTools === "last" &&
    tools !== undefined &&
    tools.length > 0 &&
    toolChoice !== "none"
  );
}

/** The JSON in an answer that has the shape already; undefined if it has not. */
export function shapedText(text: string, { schema }: OutputFormat): string | undefined {
  const json = withoutFence(text.trim());
  const value = parseJson(json);
  if (value === undefined || (schema === undefined && !isPlainObject(value))) return undefined;
  try {
    return schema === undefined || compileJsonSchema(schema)(value).length === 0 ? json : undefined;
  } catch {
    return undefined; // a schema that only the server understands
  }
}

/** The content of a block of code that is the whole text. */
function withoutFence(text: string): string {
  const start = text.indexOf("\n");
  if (!text.startsWith("```") || !text.endsWith("```") || start < 0) return text;
  return text.slice(start, -3).trim();
}

/** What is said where a shape cannot be enforced. */
export const shapeInWords = {
  code: "shape_in_words",
  message:
    "The model server is not known to enforce the shape of an answer, so the model is only asked for it in words, and its answer may not fit. Set `server`, or `outputMode` in the profile, if it can.",
} as const;
