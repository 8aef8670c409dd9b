// One answer of a model, put together from its stream, with what was seen of the stream itself.

import type { FinishReason, ModelProvider, ModelRequest } from "rondo";

export interface Answer {
  readonly text: string;
  readonly thinking: string;
  /** In how many pieces text and thinking came. */
  readonly pieceCount: number;
  /** When the first of them came. */
  readonly firstMs: number;
  readonly finishReason: FinishReason;
}

export async function ask(provider: ModelProvider, request: ModelRequest): Promise<Answer> {
  const startedAt = performance.now();
  let text = "";
  let thinking = "";
  let pieceCount = 0;
  let firstMs = 0;
  let finishReason: FinishReason = "unknown";
  for await (const delta of provider.stream(request)) {
    if (delta.type === "finished") finishReason = delta.finishReason;
    if (delta.type !== "text.delta" && delta.type !== "thinking.delta") continue;
    if (pieceCount === 0) firstMs = performance.now() - startedAt;
    pieceCount += 1;
    if (delta.type === "text.delta") text += delta.text;
    else thinking += delta.text;
  }
  return { text: text.trim(), thinking, pieceCount, firstMs, finishReason };
}

/** The start of a text on one line, to be quoted. */
export function quote(text: string, maxLength = 60): string {
  const line = text.replace(/\s+/g, " ").trim();
  return JSON.stringify(line.length > maxLength ? `${line.slice(0, maxLength)}…` : line);
}
