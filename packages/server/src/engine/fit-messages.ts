// Fits a conversation to its model: truncated to the context window, and with instructions for the output format if
// the server cannot enforce it.

import type { Message } from "rondo";
import { ContextBudgetError, truncateToBudget } from "rondo/budget";
import { resultLimit, shortenResults } from "rondo/loop";
import type { ModelProfile } from "rondo/models";
import { invalidRequest } from "../protocol/api-error.ts";
import type { RequestOptions } from "../protocol/stored-request.ts";

/** Tokens reserved for the answer by default. */
const defaultAnswerTokens = 1024;

/** Throws an `ApiError` if not even the newest input fits. */
export function fitMessages(
  messages: readonly Message[],
  request: Pick<RequestOptions, "text" | "truncation" | "max_output_tokens">,
  profile: ModelProfile,
  hasTools = false,
  maxResultTokens?: number,
): Message[] {
  const instructed = withShape(messages, request.text.format, profile, hasTools);
  if (request.truncation !== "auto" || profile.contextWindow === undefined) return instructed;
  // The answer gets at most half of a small window.
  const answer = Math.min(
    request.max_output_tokens ?? defaultAnswerTokens,
    Math.floor(profile.contextWindow / 2),
  );
  try {
    const maxTokens = profile.contextWindow - answer;
    // Long results count as the model reads them.
    const view = shortenResults(instructed, resultLimit(maxResultTokens, profile.contextWindow));
    const kept = truncateToBudget(view, {
      maxTokens,
      // Each cut costs the model server its cache.
      keepTokens: Math.ceil(maxTokens / 2),
      cutNewestTurn: true,
    });
    const isKept = new Set(kept);
    return instructed.filter((_, index) => isKept.has(view[index] as Message));
  } catch (error) {
    if (!(error instanceof ContextBudgetError)) throw error;
    throw invalidRequest(
      "input",
      `The newest input does not fit into the model's context: it has about ${error.neededTokens} tokens, and there is room for ${error.maxTokens} besides the answer. Shorten it, or lower max_output_tokens.`,
      "context_length_exceeded",
    );
  }
}

/** Adds instructions for the output format if the model server cannot enforce it, or only after the last tool. */
function withShape(
  messages: readonly Message[],
  format: RequestOptions["text"]["format"],
  { outputMode, shapeWithTools }: ModelProfile,
  hasTools: boolean,
): Message[] {
  const isEnforced = outputMode === "native" && !(hasTools && shapeWithTools === "last");
  if (format.type === "text" || isEnforced) return [...messages];
  const shape =
    format.type === "json_schema" ? ` It must fit this JSON Schema: ${JSON.stringify(format.schema)}` : "";
  const when = hasTools ? "When you need no more tools, answer" : "Answer";
  const instruction = `${when} with one JSON object and nothing else.${shape}`;
  const [first, ...others] = messages;
  if (first?.role === "system")
    return [{ role: "system", content: `${first.content}\n\n${instruction}` }, ...others];
  return [{ role: "system", content: instruction }, ...messages];
}
