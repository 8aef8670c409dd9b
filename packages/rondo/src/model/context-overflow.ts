// Recognises the error reports about a full context window, in the words and codes of each server.

import { isPlainObject } from "../error/check.ts";
import type { ContextOverflow } from "../error/context-length-error.ts";
import { errorMessageOf } from "./error-message.ts";

/** Types and codes that mean nothing else. */
const codes: ReadonlySet<unknown> = new Set([
  "exceed_context_size_error", // llama.cpp
  "context_length_exceeded", // OpenAI, Rondo and most hosted APIs
  "context_window_exceeded",
  "model_context_window_exceeded",
]);

/** Sentences of servers that have no such code. */
const sentences: readonly RegExp[] = [
  /exceeds? the available context size/i, // llama.cpp
  /context size has been exceeded/i, // llama.cpp in mid-answer, LM Studio's MLX
  /larger than the max(?:imum)? context size/i,
  /maximum context length (?:is|of) \d/i, // OpenAI, vLLM, SGLang
  /longer than the maximum model length/i, // vLLM
  /longer than the model's context length/i, // SGLang
  /(?:input|prompt) (?:length|tokens?) exceeds? the (?:model's |maximum )?context/i, // Ollama
  /prompt too long; exceeded max context length/i, // Ollama
  /loaded with context length of only \d/i, // LM Studio
  /greater than the context length/i,
  /reached context length of \d/i,
  /n_keep: ?\d+ ?>= ?n_ctx: ?\d/i,
  /prompt is too long: \d+ tokens? > \d/i, // Anthropic and its proxies
  /exceeds? (?:the )?context (?:limit|window|length)/i,
  /`inputs` tokens \+ `max_new_tokens` must be <= \d/i, // text-generation-inference
];

const windowPatterns: readonly RegExp[] = [
  /n_ctx: ?(\d+)/i,
  /context (?:size|length|window|limit)(?! by)[^.\d]{0,40}?(\d+)/i,
  /maximum model length of (\d+)/i,
  /must be <= (\d+)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  /\d+ tokens? > (\d+)/i,
];

const promptPatterns: readonly RegExp[] = [
  /contains (?:at least )?(\d+) input tokens/i, // vLLM
  /request has (\d+) input tokens/i, // vLLM
  /(\d+) (?:tokens )?(?:in|from) (?:the|your) (?:input )?(?:messages|prompt)/i, // OpenAI, vLLM, SGLang
  /messages resulted in (\d+) tokens/i, // OpenAI
  /(?:request|input|prompt) \((\d+) tokens?\)/i, // llama.cpp, SGLang
  /prompt \(length (\d+)\)/i, // vLLM
  /keep the first (\d+) tokens/i, // LM Studio
  /n_keep: ?(\d+)/i,
  /given: (\d+) `inputs` tokens/i,
  /exceed context limit: (\d+) \+/i,
  /prompt is too long: (\d+)/i,
];

/** How much of a message is searched. */
const maxSearched = 2000;

/** What an error report tells about a full window; undefined if it is about something else. */
export function findContextOverflow(report: unknown): ContextOverflow | undefined {
  const details = detailsOf(report);
  const text = errorMessageOf(report, maxSearched);
  const hasCode = codes.has(details["type"]) || codes.has(details["code"]);
  if (!hasCode && !sentences.some((sentence) => sentence.test(text))) return undefined;
  return {
    contextWindow: tokens(details["n_ctx"]) ?? find(windowPatterns, text),
    promptTokens: tokens(details["n_prompt_tokens"]) ?? find(promptPatterns, text),
  };
}

/** The object with the message: the report itself, or its `error`. */
function detailsOf(report: unknown): Readonly<Record<string, unknown>> {
  if (!isPlainObject(report)) return {};
  const { error } = report;
  return isPlainObject(error) ? error : report;
}

function find(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const found = tokens(Number(pattern.exec(text)?.[1]));
    if (found !== undefined) return found;
  }
  return undefined;
}

function tokens(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}
