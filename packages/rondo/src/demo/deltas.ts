// Streams an answer in pieces of about a word, each of which counts as one token.

import type { FinishReason, ModelDelta, ModelRequest } from "../model/provider.ts";
import type { Answer } from "./answer.ts";

const longestPiece = 16;

/** Words with the space before them; long ones in several pieces. Together they are the text. */
export function piecesOf(text: string): string[] {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  return words.flatMap((word) => {
    const characters = Array.from(word);
    const count = Math.ceil(characters.length / longestPiece);
    return Array.from({ length: count }, (_, index) =>
      characters.slice(index * longestPiece, (index + 1) * longestPiece).join(""),
    );
  });
}

export function* deltasOf(answer: Answer, request: ModelRequest): Generator<ModelDelta, void, void> {
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
    if (spent >= maxTokens) {
      isCut = true;
      break;
    }
    yield { type: "call.started", id, name };
    const pieces = affordable(written);
    for (const text of pieces) yield { type: "call.delta", id, text };
    yield { type: "call.ended", id, name, arguments: pieces.join(""), isTruncated: isCut };
  }
  const finishReason: FinishReason = isCut ? "length" : answer.calls.length > 0 ? "tool_calls" : "stop";
  const inputTokens = countInput(request);
  const totalTokens = inputTokens + spent;
  const usage = { inputTokens, outputTokens: spent, totalTokens, reasoningTokens };
  yield { type: "finished", finishReason, usage };
}

function untilStop(text: string, stop: readonly string[]): string {
  const ends = stop.filter((mark) => mark !== "").map((mark) => text.indexOf(mark));
  return text.slice(0, Math.min(text.length, ...ends.filter((end) => end >= 0)));
}

/** Four characters for a token, as is usual where nobody counts. */
function countInput({ messages, tools = [] }: ModelRequest): number {
  const parts = [...messages, ...tools].map((part) => Math.ceil(JSON.stringify(part).length / 4));
  return parts.reduce((sum, count) => sum + count, 0);
}
