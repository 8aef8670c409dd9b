// Streams an answer in pieces of about a word, each of which counts as one token.

import type { ModelDelta, ModelRequest } from "../model/provider.ts";
import type { DemoAnswer } from "./answer.ts";

/** Words with the space before them; long ones in several pieces. Joined, they are the text. */
export function piecesOf(text: string): string[] {
  return text.match(/\s*\S{1,16}|\s+$/gu) ?? [];
}

export function* deltasOf(answer: DemoAnswer, request: ModelRequest): Generator<ModelDelta, void, void> {
  const { maxTokens = Number.POSITIVE_INFINITY, stop = [] } = request.settings ?? {};
  let spent = 0;
  let isCut = false;
  const affordable = (text: string): string[] => {
    const pieces = piecesOf(text);
    const kept = pieces.slice(0, maxTokens - spent);
    isCut ||= kept.length < pieces.length;
    spent += kept.length;
    return kept;
  };
  for (const text of affordable(answer.thought)) yield { type: "thinking.delta", text };
  const reasoningTokens = spent;
  for (const text of affordable(untilStop(answer.text, stop))) yield { type: "text.delta", text };
  for (const { id, name, arguments: written } of answer.calls) {
    isCut ||= spent >= maxTokens;
    if (isCut) break;
    yield { type: "call.started", id, name };
    const pieces = affordable(written);
    for (const text of pieces) yield { type: "call.delta", id, text };
    yield { type: "call.ended", id, name, arguments: pieces.join(""), isTruncated: isCut };
  }
  const inputTokens = countInput(request);
  yield {
    type: "finished",
    finishReason: isCut ? "length" : answer.calls.length > 0 ? "tool_calls" : "stop",
    usage: { inputTokens, outputTokens: spent, totalTokens: inputTokens + spent, reasoningTokens },
  };
}

function untilStop(text: string, stop: readonly string[]): string {
  const ends = stop.filter((word) => word !== "" && text.includes(word)).map((word) => text.indexOf(word));
  return text.slice(0, Math.min(text.length, ...ends));
}

/** Four characters a token, the usual estimate. */
function countInput({ messages, tools = [] }: ModelRequest): number {
  return [...messages, ...tools].reduce((sum, part) => sum + Math.ceil(JSON.stringify(part).length / 4), 0);
}
