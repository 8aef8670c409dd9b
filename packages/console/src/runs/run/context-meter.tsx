// How full the context was, and how much of the prompt the model server had cached.

import { formatNumber } from "../../ui/format.ts";
import type { Round } from "../trace/rounds.ts";

export function ContextMeter({ round }: { readonly round: Round }) {
  const { inputTokens, cachedTokens = 0, contextWindow } = round;
  if (inputTokens === undefined) return null;
  const all = Math.max(contextWindow ?? inputTokens, inputTokens, 1);
  const share = (tokens: number) => `${Math.min(100, (tokens / all) * 100)}%`;
  const words = contextLine(round);
  return (
    <div class="context-meter">
      <div class="meter" role="img" aria-label={words}>
        <span class="meter-cached" style={{ width: share(Math.min(cachedTokens, inputTokens)) }} />
        <span class="meter-read" style={{ width: share(Math.max(0, inputTokens - cachedTokens)) }} />
      </div>
      <span class="number soft">{words}</span>
    </div>
  );
}

/** `812 of 4,096 tokens of context (20 %), 600 cached` */
function contextLine({ inputTokens = 0, cachedTokens, contextWindow }: Round): string {
  const window =
    contextWindow === undefined
      ? " tokens of context"
      : ` of ${formatNumber(contextWindow)} tokens of context (${Math.round((inputTokens / contextWindow) * 100)} %)`;
  const cached = cachedTokens === undefined ? "" : `, ${formatNumber(cachedTokens)} cached`;
  return `${formatNumber(inputTokens)}${window}${cached}`;
}
