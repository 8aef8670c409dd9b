// One endpoint in the description of the API.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { schemaOptions } from "./openapi-schema.ts";

export interface Operation {
  id: string;
  summary: string;
  /** The schema of the body that it takes. */
  takes?: string;
  query?: z.ZodObject;
  /** The headers that it reads, with what they mean. */
  headers?: Record<string, { description: string; schema: JsonObject }>;
  /** What it answers when all is well, by kind of content. */
  gives: JsonObject;
  /** Other answers than the common ones, by status. */
  errors?: Record<string, string>;
  /** Whether it needs no key, and has no owner with limits. Default: false. */
  isPublic?: boolean;
}

export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const jsonOf = (name: string): JsonObject => ({ "application/json": { schema: ref(name) } });
export const plain = { "text/plain": { schema: { type: "string" } } };
export const anyJson = { "application/json": { schema: { type: "object" } } };

export function operation({
  id,
  summary,
  takes,
  query,
  headers,
  gives,
  errors,
  isPublic = false,
}: Operation): JsonObject {
  const answers = Object.entries({
    ...(takes || query ? { "400": "The request is wrong." } : {}),
    ...(isPublic ? {} : { "429": "The owner has too much under way. `Retry-After` says when to try again." }),
    ...errors,
  });
  return {
    operationId: id,
    summary,
    ...(query || headers
      ? { parameters: [...(query ? parametersOf(query) : []), ...headerParameters(headers)] }
      : {}),
    ...(takes ? { requestBody: { required: true, content: jsonOf(takes) } } : {}),
    responses: {
      "200": { description: "All is well.", content: gives },
      ...Object.fromEntries(
        answers.map(([status, description]) => [status, { description, content: jsonOf("Error") }]),
      ),
      default: { description: "Anything else that has gone wrong.", content: jsonOf("Error") },
    },
  };
}

function headerParameters(headers: Operation["headers"] = {}): JsonValue[] {
  return Object.entries(headers).map(([name, header]) => ({
    name,
    in: "header",
    required: false,
    ...header,
  }));
}

function parametersOf(query: z.ZodObject): JsonValue[] {
  const { properties = {} } = z.toJSONSchema(query, schemaOptions);
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonObject;
    return { name, in: "query", required: false, schema, ...(description ? { description } : {}) };
  });
}
