// The tools of a request: validated, normalised for the engine, and echoed.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { invalidRequest } from "./api-error.ts";
import { type ClientTool, flatName } from "./client-tools.ts";
import { withoutCredentials } from "./credentials.ts";
import { openUnion } from "./open-union.ts";

/**
 * A tool as the engine gets it: a `type` and its fields. `shown_as` is the client's definition where that differs: in a
 * namespace, or as a custom tool.
 */
export type ToolDefinition = JsonObject & { type: string; name?: string; shown_as?: ClientTool };

const name = z.string().min(1);
const description = z.string().nullish();

/** Hints about callers: accepted, and without effect here. Tools with `defer_loading` are found by `tool_search`. */
const hints = {
  allowed_callers: z.array(z.string()).nullish(),
  async: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
};

const functionTool = z.looseObject({
  type: z.literal("function"),
  name,
  description,
  ...hints,
  output_schema: z.record(z.string(), z.unknown()).nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

const customTool = z.looseObject({
  type: z.literal("custom"),
  name,
  description,
  ...hints,
  format: z.looseObject({ type: z.string() }).nullish(),
});

const mcpTool = z.looseObject({
  type: z.literal("mcp"),
  ...hints,
  server_label: z.string().min(1),
  server_url: z.string().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  authorization: z.string().nullish(),
  allowed_tools: z.union([z.array(z.string()), z.looseObject({})]).nullish(),
  require_approval: z.union([z.string(), z.looseObject({})]).nullish(),
  connector_id: z.string().nullish(),
  server_description: z.string().nullish(),
  tunnel_id: z.string().nullish(),
});

const namespaceTool = z.looseObject({
  type: z.literal("namespace"),
  name,
  description,
  tools: z.array(openUnion(z.discriminatedUnion("type", [functionTool, customTool, mcpTool]))).nullish(),
});

const codeInterpreterTool = z.looseObject({
  type: z.literal("code_interpreter"),
  container: z.union([z.string(), z.looseObject({})]).nullish(),
  allowed_callers: z.array(z.string()).nullish(),
});

const shellTool = z.looseObject({
  type: z.literal("shell"),
  environment: z.looseObject({ type: z.string() }).nullish(),
  allowed_callers: z.array(z.string()).nullish(),
});

const localShellTool = z.looseObject({ type: z.literal("local_shell") });

const applyPatchTool = z.looseObject({
  type: z.literal("apply_patch"),
  allowed_callers: z.array(z.string()).nullish(),
});

/** Finds tools with `defer_loading`, here or at the client. */
const toolSearchTool = z.looseObject({
  type: z.literal("tool_search"),
  description,
  execution: z.enum(["server", "client"]).nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

export const knownTools = z.discriminatedUnion("type", [
  toolSearchTool,
  functionTool,
  customTool,
  namespaceTool,
  mcpTool,
  codeInterpreterTool,
  shellTool,
  localShellTool,
  applyPatchTool,
]);

export const tool = openUnion(knownTools);

/** A tool, its path in the request, and its namespace. */
interface Placed {
  entry: JsonObject;
  path: string;
  prefix: string | undefined;
}

/**
 * Flattens valid tools: those of a namespace join the others, under their own name or, where that is taken, as
 * `namespace__name`; a custom tool becomes a function of one string. Throws a 400 when two have the same name.
 */
export function toTools(given: readonly JsonObject[]): readonly ToolDefinition[] {
  if (areDistinctFunctions(given)) return given;
  const flat = given.flatMap((entry, index): Placed[] => {
    const path = `tools[${index}]`;
    if (entry["type"] !== "namespace") return [{ entry, path, prefix: undefined }];
    const inner = (entry["tools"] ?? []) as JsonObject[];
    const prefix = entry["name"] as string;
    return inner.map((tool, position) => ({ entry: tool, path: `${path}.tools[${position}]`, prefix }));
  });
  const uses = Map.groupBy(flat, ({ entry }) => entry["name"]);
  const taken = new Map<string, string>();
  return flat.map(({ entry, path, prefix }) => {
    const { name: own } = entry;
    if (typeof own !== "string") return entry as ToolDefinition;
    const isAlone = uses.get(own)?.length === 1;
    const name = prefix === undefined || isAlone ? own : flatName(prefix, own);
    const first = taken.get(name);
    if (first !== undefined)
      throw invalidRequest(
        `${path}.name`,
        `${path}.name: expected a name that no other tool has, got "${name}", which is ${first} already. Rename one of them.`,
      );
    taken.set(name, path);
    return toTool(entry, { name, own, namespace: prefix });
  });
}

/** Nearly always they are: then they stay as they are. */
function areDistinctFunctions(given: readonly JsonObject[]): given is readonly ToolDefinition[] {
  const names = new Set<string>();
  for (const { type, name } of given) if (type === "function" && typeof name === "string") names.add(name);
  return names.size === given.length;
}

interface Names {
  /** As the model sees it. */
  name: string;
  own: string;
  namespace: string | undefined;
}

function toTool(entry: JsonObject, { name, own, namespace }: Names): ToolDefinition {
  const { type, description } = entry;
  const isCustom = type === "custom";
  if (!isCustom && (namespace === undefined || type !== "function"))
    return { ...entry, name } as ToolDefinition;
  const shown_as: ClientTool = {
    type: isCustom ? "custom" : "function",
    name: own,
    ...(namespace !== undefined && { namespace }),
  };
  if (!isCustom) return { ...entry, type: "function", name, shown_as };
  return {
    type: "function",
    name,
    description: withFormat(description, entry["format"]),
    shown_as,
    ...(entry["defer_loading"] === true && { defer_loading: true }),
    parameters: {
      type: "object",
      properties: {
        input: { type: "string", description: "The whole text for the tool, as one JSON string." },
      },
      required: ["input"],
      additionalProperties: false,
    },
    strict: null,
  };
}

/**
 * A description without sentences such as "This is a FREEFORM tool, so do not wrap the patch in JSON", which are about
 * servers that take the text as it is: here it is an argument of a function.
 */
function withoutFormatAdvice(description: string): string {
  const isAdvice = (sentence: string) =>
    /\bfreeform\b/i.test(sentence) || (/\bjson\b/i.test(sentence) && /\b(?:wrap|not)\b/i.test(sentence));
  const lines = description.split("\n").map((line) => {
    const sentences = line.split(/(?<=[.!]) /);
    const kept = sentences.filter((sentence) => !isAdvice(sentence));
    return kept.length === sentences.length ? line : kept.join(" ");
  });
  return lines.join("\n");
}

/** A description with the grammar of the input: model servers cannot be made to enforce it. */
function withFormat(description: JsonValue | undefined, format: JsonValue | undefined): string | null {
  const text = typeof description === "string" ? withoutFormatAdvice(description) : null;
  if (typeof format !== "object" || format === null || Array.isArray(format)) return text;
  const { syntax, definition } = format;
  if (typeof definition !== "string") return text;
  const grammar = `The input has to follow this grammar${typeof syntax === "string" ? ` (${syntax})` : ""}:\n${definition}`;
  return text === null ? grammar : `${text}\n\n${grammar}`;
}

/** The tools as the response echoes them: as they came, functions complete, and without credentials. */
export function echoTools(given: readonly JsonObject[]): JsonObject[] {
  return given.map((entry) => {
    if (entry["type"] === "function")
      return {
        ...entry,
        description: entry["description"] ?? null,
        parameters: entry["parameters"] ?? null,
        strict: entry["strict"] ?? null,
      };
    return withoutCredentials(entry);
  });
}
