// How models are reached: endpoints that bring all their models, and models that are named one by one.

import { InvalidArgumentError, type ModelProvider, openaiCompatible } from "rondo";
import { InvalidTypeError } from "rondo/errors";
import type { ModelProfile } from "rondo/models";
import { z } from "zod";
import { filePath, group, httpUrl, made, milliseconds, secretTexts, text, wholeNumber } from "./fields.ts";

/** What an endpoint and a single model have in common. */
const access = {
  url: httpUrl("http://localhost:11434/v1").describe("The base URL of an OpenAI-compatible API."),
  apiKey: text("a key, without spaces")
    .optional()
    .meta({ description: "Sent as a bearer token.", isSecret: true }),
  apiKeyFile: filePath().describe("A file that holds the key, relative to the folder of the config file."),
  headers: secretTexts(
    "header names with their values",
    "Headers for each request; they override the usual ones.",
  ),
  server: text("the name of a kind of server")
    .optional()
    .describe("The kind of server, if the URL does not show it: `ollama`, `lmstudio`, `llamacpp`, `vllm`."),
  profile: made<Partial<ModelProfile>>("the keys of a model profile", isGroup)
    .optional()
    .describe("Quirks that differ from what the names of server and model suggest (docs/models.md)."),
  maxConcurrency: wholeNumber(1)
    .optional()
    .describe("How many requests may be in flight; others wait. No limit if not set."),
  timeoutMs: milliseconds().optional().describe("The time limit of a model request. No limit if not set."),
  idleTimeoutMs: milliseconds()
    .optional()
    .describe(
      "How long the model server may be silent, before its answer and in it. If not set, 600,000, and no limit before an answer that is not streamed.",
    ),
  maxAnswerBytes: wholeNumber(1)
    .optional()
    .describe(
      "The largest answer of the model in bytes, uncompressed; a larger one fails. If not set, 67,108,864.",
    ),
  maxCallsPerAnswer: wholeNumber(1)
    .optional()
    .describe(
      "How many tool calls an answer may have. With more it fails, and none is run. If not set, 128.",
    ),
};

export const endpointSchema = group(access).superRefine(checkAccess);

const namedModelSchema = group({
  ...access,
  model: text("the name of a model, such as qwen3:8b")
    .optional()
    .describe("The model's name at its server. The same name if not set."),
}).superRefine(checkAccess);

const providerSchema = made<ModelProvider>("a model provider", isProvider);

// The provider comes first: for a value that is neither, messages are about the second.
export const modelSchema = z.union([providerSchema, namedModelSchema]);

export type EndpointConfig = z.output<typeof endpointSchema>;
export type NamedModelConfig = z.output<typeof namedModelSchema>;

/** Whether a model of the config was made by code. */
export function isProvider(value: unknown): value is ModelProvider {
  return isGroup(value) && typeof (value as { stream?: unknown }).stream === "function";
}

function isGroup(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The options of `openaiCompatible()` for a model behind this access. */
export function providerOptions(access: EndpointConfig | NamedModelConfig, model: string) {
  // The library refuses options that it does not know, such as the name of a file.
  const { url: baseURL, apiKeyFile: _, ...options } = access;
  return { ...options, baseURL, model };
}

/** The library knows which headers, keys and profiles are allowed; so it is asked, at the start and not later. */
function checkAccess(access: EndpointConfig | NamedModelConfig, context: z.RefinementCtx): void {
  try {
    openaiCompatible(providerOptions(access, "any"));
  } catch (error) {
    if (!(error instanceof InvalidArgumentError || error instanceof InvalidTypeError)) throw error;
    if (error.field === "baseURL") return; // reported for `url` already
    const [key = "", ...name] = error.field.split("."); // a header's name may have dots
    if (context.issues.some(({ path }) => path?.[0] === key)) return; // reported by the schema
    const path = name.length === 0 ? [key] : [key, name.join(".")];
    context.addIssue({ code: "custom", path, message: error.expected });
  }
}
