// A tool that the model sees as a definition of the request describes it.

import { type AnyTool, type JsonSchema, RondoError, type ToolContext, tool } from "rondo";
import { invalidRequest } from "../protocol/api-error.ts";
import type { ToolDefinition } from "../protocol/tools.ts";
import type { ToolExecutor } from "./executor.ts";

type Handler = (
  input: Record<string, unknown>,
  context: ToolContext,
) => Promise<unknown> | AsyncGenerator<unknown, unknown, void>;

/** Throws an `ApiError` with the definition's place for one that cannot be a tool. */
export function definedTool(
  definition: ToolDefinition,
  index: number,
  {
    describe,
    isIdempotent = false,
    timeoutMs,
  }: Pick<ToolExecutor, "describe" | "isIdempotent" | "timeoutMs">,
  handler: Handler,
): AnyTool {
  const { name, description, parameters } = describe?.(definition) ?? asFunction(definition, index);
  const options = {
    name,
    description: description || name,
    input: { type: "object", ...parameters } as JsonSchema,
    registry: false,
    idempotent: isIdempotent,
    ...(timeoutMs !== undefined && { timeoutMs }),
  } as const;
  try {
    return tool(options, handler as (input: object, context: ToolContext) => Promise<unknown>);
  } catch (error) {
    if (error instanceof RondoError)
      throw invalidRequest(`tools[${index}]`, `The tool '${name}' cannot be used: ${error.message}`);
    throw error;
  }
}

function asFunction(definition: ToolDefinition, index: number) {
  const { name, description, parameters } = definition;
  if (typeof name !== "string")
    throw invalidRequest(
      `tools[${index}].name`,
      `A tool of the type '${definition.type}' needs a name here.`,
    );
  return {
    name,
    description: typeof description === "string" ? description : "",
    parameters: (typeof parameters === "object" && parameters !== null ? parameters : {}) as JsonSchema,
  };
}
