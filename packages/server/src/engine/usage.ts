// Token usage in the API's format. Usage that the model server did not report is estimated.

import type { Message, Usage } from "rondo";
import { estimateTokens } from "rondo/budget";
import type { ResponseUsage } from "../protocol/response.ts";

/** Of a run without an answer. */
export const noUsage: ResponseUsage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

export function toUsage(usage: Usage): ResponseUsage {
  const { inputTokens, outputTokens, totalTokens, cachedTokens = 0, reasoningTokens = 0, cutTokens } = usage;
  const { estimated } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cachedTokens,
      ...(cutTokens !== undefined && { cut_tokens: cutTokens }),
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: totalTokens,
    ...(estimated && { estimated }),
  };
}

export function addUsage(total: ResponseUsage | undefined, more: ResponseUsage): ResponseUsage {
  if (!total) return more;
  return {
    input_tokens: total.input_tokens + more.input_tokens,
    input_tokens_details: addInputDetails(total.input_tokens_details, more.input_tokens_details),
    output_tokens: total.output_tokens + more.output_tokens,
    output_tokens_details: {
      reasoning_tokens:
        total.output_tokens_details.reasoning_tokens + more.output_tokens_details.reasoning_tokens,
    },
    total_tokens: total.total_tokens + more.total_tokens,
    ...((total.estimated || more.estimated) && { estimated: true }),
  };
}

type InputDetails = ResponseUsage["input_tokens_details"];

function addInputDetails(total: InputDetails, more: InputDetails): InputDetails {
  const cut = (total.cut_tokens ?? 0) + (more.cut_tokens ?? 0);
  return {
    cached_tokens: total.cached_tokens + more.cached_tokens,
    ...(cut > 0 && { cut_tokens: cut }),
  };
}

/** The estimated usage of an answer whose server does not report it. */
export function estimateUsage(conversation: readonly Message[], answer: Message): ResponseUsage {
  const inputTokens = estimateTokens(conversation);
  const outputTokens = estimateTokens([answer]);
  const totalTokens = inputTokens + outputTokens;
  return toUsage({ inputTokens, outputTokens, totalTokens, estimated: true });
}
