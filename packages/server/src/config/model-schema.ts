// How models are reached: endpoints that bring all their models, and models that are named one by one.

import {
  InvalidArgumentError,
  InvalidTypeError,
  type ModelProfile,
  type ModelProvider,
  openaiCompatible,
} from "rondo";
import { z } from "zod";
import { byName, group, httpUrl, made, milliseconds, text, wholeNumber } from "./fields.ts";

/** What an endpoint and a single model have in common. */
const access = {
  url: httpUrl("http://localhost:11434/v1").meta({
    description: "The base URL of an OpenAI-compatible API.",
  }),
  apiKey: text("a key, without spaces")
    .optional()
    .meta({ description: "Sent as a bearer token.", isSecret: true }),
  apiKeyFile: text("the path of a file")
    .optional()
    .meta({ description: "A file that holds the key, seen from the folder of the config file." }),
  headers: byName(z.string("text"), "header names with their values")
    .optional()
    .meta({ description: "More headers for each request; they win over the usual ones.", isSecret: true }),
  server: text("the name of a kind of server").optional().meta({
    description: "What the server is, if the URL does not tell: `ollama`, `lmstudio`, `llamacpp`, `vllm`.",
  }),
  profile: made<Partial<ModelProfile>>("the keys of a model profile", isGroup)
    .optional()
    .meta({ description: "Quirks that are not as the names of server and model suggest (docs/models.md)." }),
  maxConcurrency: wholeNumber(1)
    .optional()
    .meta({ description: "How many requests the endpoint gets at once; others wait. No limit if not set." }),
  timeoutMs: milliseconds()
    .optional()
    .meta({ description: "The limit of a whole model call. No limit if not set." }),
  idleTimeoutMs: milliseconds().optional().meta({
    description:
      "How long the model server may be silent, before its answer and in it. If not set, 600,000, and no limit before an answer that nobody streams.",
  }),
  maxAnswerBytes: wholeNumber(1).optional().meta({
    description:
      "How many bytes one answer of the model may have, unpacked. Beyond them it fails. If not set, 67,108,864.",
  }),
  maxCallsPerAnswer: wholeNumber(1).optional().meta({
    description:
      "How many tool calls one answer may have. With more, it fails, and none is run. If not set, 128.",
  }),
};

export const endpointSchema = group(access).superRefine(checkAccess);

const namedModelSchema = group({
  ...access,
  model: text("the name of a model, such as qwen3:8b")
    .optional()
    .meta({ description: "The model's name at its server. The same name if not set." }),
}).superRefine(checkAccess);

const providerSchema = made<ModelProvider>("a model provider", isProvider);

// The provider comes first: of a value that is neither, messages are about the second.
export const modelSchema = z.union([providerSchema, namedModelSchema]);

export type EndpointConfig = z.output<typeof endpointSchema>;
export type NamedModelConfig = z.output<typeof namedModelSchema>;

/** Whether a model of the config is one that code has made. */
export function isProvider(value: unknown): value is ModelProvider {
  return isGroup(value) && typeof (value as { stream?: unknown }).stream === "function";
}

function isGroup(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The options of `openaiCompatible()` for a model behind this access. */
export function providerOptions(access: EndpointConfig | NamedModelConfig, model: string) {
  // Not the whole rest: a config has more settings than the library, and the library refuses what it does not know.
  const { url: baseURL, apiKey, headers, server, profile } = access;
  const { maxConcurrency, timeoutMs, idleTimeoutMs, maxAnswerBytes, maxCallsPerAnswer } = access;
  return {
    baseURL,
    model,
    apiKey,
    headers,
    server,
    profile,
    maxConcurrency,
    timeoutMs,
    idleTimeoutMs,
    maxAnswerBytes,
    maxCallsPerAnswer,
  };
}

/** The library knows what headers, keys and profiles are allowed; so it is asked, at the start and not later. */
function checkAccess(access: EndpointConfig | NamedModelConfig, context: z.RefinementCtx): void {
  try {
    openaiCompatible(providerOptions(access, "any"));
  } catch (error) {
    if (!(error instanceof InvalidArgumentError || error instanceof InvalidTypeError)) throw error;
    if (error.field === "baseURL") return; // said of `url` already
    const [key = "", ...name] = error.field.split("."); // a header's name may have dots
    if (context.issues.some(({ path }) => path?.[0] === key)) return; // the schema has said so
    const path = name.length === 0 ? [key] : [key, name.join(".")];
    context.addIssue({ code: "custom", path, message: error.expected });
  }
}
